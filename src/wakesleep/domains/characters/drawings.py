"""Drawings in files as images of 28 x 28 pixels; nothing here imports JAX."""

from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float, Int8, UInt8
from PIL import Image as Files
from scipy.ndimage import distance_transform_edt, label

from wakesleep.data.images import grey
from wakesleep.data.images import read_image as pixels_of
from wakesleep.domains.characters.hand.skeleton import thin
from wakesleep.errors import Refusal

SIDE = 28
DRAWN = 20
"""A user's drawing is scaled to this many pixels, the size of most characters of Omniglot."""
LARGEST = 8192
"""The frame of a drawing has a side of at most this many pixels."""
INK_THRESHOLD = 0.5
FINE_SIDE, FINE_THRESHOLD = 4 * SIDE, 16
"""The size at which the width of lines is measured, and the shade from which a pixel counts there."""
LINE_PIXELS, LEAST_LINE_PIXELS, MOST_LINE_PIXELS = 1.25, 0.5, 2.0
"""The width of a pen's lines at 28 x 28, and the mean widths beyond which a user's lines are drawn anew."""
DOT_SHARE = 0.8
"""Ink is a dot where the widest circle in it has at least this share of its longer side."""
RARE_MARGIN = 0.12
"""How far the share of dark pixels is from a half where it tells what is ink."""
BETWEEN_SHARE = 0.1
"""An image is antialiased where pixels are this share of all shades off both ends."""
MOST_INK_SHARE = 0.35
"""Of the pixels at 28 x 28; no character of Omniglot has more than .22."""
UNEVEN_SHARE = 0.2
"""The ground is uneven where the frame's shades spread over more than this share of all shades."""
SHADE_OFFSET = 10.0
"""Added to shades before their logarithm is taken, so that black has one."""


def reduce(ink: UInt8[np.ndarray, "h w"]) -> Int8[np.ndarray, "y x"]:
    """Returns a binary drawing reduced to 28 x 28: antialiased, then cut at half of the darkest pixel.

    Lines as wide as Omniglot's fill a pixel, so that this is half of a pixel there; thinner lines are not lost.
    """
    small = Files.fromarray(ink * np.uint8(255)).resize((SIDE, SIDE), Files.Resampling.BILINEAR)
    shade = np.asarray(small, np.float32)
    return (shade > INK_THRESHOLD * shade.max()).astype(np.int8)


def read_image(path: Path) -> Int8[np.ndarray, "y x"]:
    """Returns the drawing in a file at 28 x 28, 1 where there is ink."""
    return drawing(str(path), pixels_of(path))


def drawing(name: str, pixels: UInt8[np.ndarray, "h w 3"]) -> Int8[np.ndarray, "y x"]:
    """Returns the drawing in an image at 28 x 28, 1 where there is ink; ink is what is rarer, dark or bright."""
    shade = grey(pixels)
    if shade.min() == shade.max():
        raise Refusal(f"{name} has one colour only, so that there is no drawing in it.")
    even = _enlarged(_evened(shade))
    ink = _rarer(even < (float(even.min()) + float(even.max())) / 2)
    whole = _framed(name, ink)
    fine = _fine(whole)
    if _is_dot(fine):
        return _dot()
    reduced = reduce(whole)
    if not (LEAST_LINE_PIXELS <= _line_pixels(fine) <= MOST_LINE_PIXELS) or _patches(reduced) > _patches(fine):
        reduced = reduce(_framed(name, _with_usual_lines(fine)))
    if (share := float(reduced.mean())) > MOST_INK_SHARE:
        raise Refusal(f"{name} has ink on {share:.0%} of its frame: a drawing of lines was expected.")
    return reduced


def _rarer(dark: Bool[np.ndarray, "h w"]) -> Bool[np.ndarray, "h w"]:
    """Returns what is rarer, dark or bright; where neither is rare, what is rarer on the frame."""
    frame = np.concatenate([dark[[0, -1]].ravel(), dark[:, [0, -1]].ravel()])
    share = float(dark.mean())
    return ~dark if (share if abs(share - 0.5) > RARE_MARGIN else frame.mean()) > 0.5 else dark


def _enlarged(shade: Float[np.ndarray, "h w"] | UInt8[np.ndarray, "h w"]) -> np.ndarray:
    """Returns a small antialiased image at a multiple of its size: its shades tell where edges are between pixels."""
    height, width = shade.shape
    times = -(-FINE_SIDE // max(shade.shape))
    share = (shade - float(shade.min())) / (float(shade.max()) - float(shade.min()))
    if times == 1 or not ((share > BETWEEN_SHARE) & (share < 1 - BETWEEN_SHARE)).any():
        return shade
    small = Files.fromarray(shade.astype(np.float32))
    return np.asarray(small.resize((width * times, height * times), Files.Resampling.BICUBIC))


def _evened(shade: UInt8[np.ndarray, "h w"]) -> Float[np.ndarray, "h w"] | UInt8[np.ndarray, "h w"]:
    """Returns the shade itself or, where its frame is uneven as in a photograph, its log ratio to the ground.

    The ground is a quadratic surface fitted to the frame, without the pixels that are far off it.
    """
    frame = np.zeros(shade.shape, bool)
    frame[[0, -1]] = frame[:, [0, -1]] = True
    spread = np.subtract(*np.quantile(shade[frame], [0.9, 0.1]))
    if min(shade.shape) < SIDE or spread <= UNEVEN_SHARE * (int(shade.max()) - int(shade.min())):
        return shade
    y, x = (2 * np.arange(n) / (n - 1) - 1 for n in shade.shape)
    surface = np.stack([np.broadcast_to(a, shade.shape) for a in _quadratic(y[:, None], x[None])], axis=-1)
    log_shade = np.log(shade + SHADE_OFFSET)
    terms, seen = surface[frame], log_shade[frame]
    off = np.abs(seen - terms @ np.linalg.lstsq(terms, seen)[0])
    near = off <= 2 * np.sqrt((off**2).mean())
    return np.asarray(log_shade - surface @ np.linalg.lstsq(terms[near], seen[near])[0])


def _quadratic(y: Float[np.ndarray, "h 1"], x: Float[np.ndarray, "1 w"]) -> tuple[np.ndarray, ...]:
    return np.ones((1, 1)), x, y, x * x, x * y, y * y


def _framed(name: str, ink: Bool[np.ndarray, "h w"]) -> UInt8[np.ndarray, "s s"]:
    """Returns the ink in the middle of a square, of whose side it has as much as most characters of Omniglot."""
    rows, columns = np.nonzero(ink.any(axis=1))[0], np.nonzero(ink.any(axis=0))[0]
    part = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].astype(np.uint8)
    frame = round(max(part.shape) * SIDE / DRAWN)
    if frame > LARGEST:
        raise Refusal(f"{name} has a drawing of {max(part.shape):,} pixels, which is too long: scale it down.")
    top, left = (frame - part.shape[0]) // 2, (frame - part.shape[1]) // 2
    whole = np.zeros((frame, frame), np.uint8)
    whole[top : top + part.shape[0], left : left + part.shape[1]] = part
    return whole


def _fine(ink: UInt8[np.ndarray, "s s"]) -> Bool[np.ndarray, "f f"]:
    """Returns a drawing at the size at which its lines are measured."""
    small = Files.fromarray(ink * np.uint8(255)).resize((FINE_SIDE, FINE_SIDE), Files.Resampling.BOX)
    return np.asarray(np.asarray(small) > FINE_THRESHOLD)


def _line_pixels(fine: Bool[np.ndarray, "f f"]) -> float:
    """Returns the mean width of the lines, in pixels of 28 x 28: the ink over the length of its skeleton."""
    return float(fine.sum() / thin(fine).sum()) * SIDE / FINE_SIDE


def _with_usual_lines(fine: Bool[np.ndarray, "f f"]) -> Bool[np.ndarray, "f f"]:
    """Returns a drawing with lines as wide as a pen's, along its skeleton."""
    return np.asarray(distance_transform_edt(~thin(fine)) <= LINE_PIXELS / 2 * FINE_SIDE / SIDE)


def _patches(black: Bool[np.ndarray, "s s"] | Int8[np.ndarray, "s s"]) -> int:
    """Returns the number of connected parts; a line that is too fine to be reduced falls into several."""
    return int(label(black, np.ones((3, 3)))[1])


def _is_dot(fine: Bool[np.ndarray, "f f"]) -> bool:
    """Returns whether the ink is one filled round or square."""
    longer = max(int(np.ptp(side)) + 1 for side in np.nonzero(fine))
    return 2 * float(distance_transform_edt(np.pad(fine, 1)).max()) >= DOT_SHARE * longer


def _dot() -> Int8[np.ndarray, "y x"]:
    """Returns a drawing of one dot."""
    x, middle = np.zeros((SIDE, SIDE), np.int8), slice(SIDE // 2 - 1, SIDE // 2 + 1)
    x[middle, middle] = 1
    return x
