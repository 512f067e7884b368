"""The one reader of images: PNG, JPEG, BMP, the first frame of a GIF, and NumPy arrays; as colours on white.

    for image in read_images(Path("drawings")):     # a file, or every image of a folder
        image.name, image.pixels.shape              # "a.png", (105, 105, 3)

How many pixels an image has is checked before any of them is decoded.
"""

import struct
import tokenize
import warnings
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Shaped, UInt8
from PIL import Image as Files
from PIL import ImageOps

from wakesleep.data import limits
from wakesleep.data.kinds import PICTURE_SUFFIXES
from wakesleep.errors import Refusal

ARRAY_SUFFIXES = (".npy", ".npz")
IMAGE_FORMATS = ("PNG", "JPEG", "GIF", "BMP")
EXPECTED_IMAGES = "PNG, JPEG, GIF, BMP, .npy or .npz"
WHITE_SHADE = 255
DECODER_FAULTS = (
    OSError, ValueError, SyntaxError, TypeError, EOFError, OverflowError, MemoryError, IndexError, KeyError,
    RuntimeError, struct.error, zlib.error, zipfile.BadZipFile, tokenize.TokenError,
)  # fmt: skip
"""What the decoders raise when a file is damaged."""


class Picture(NamedTuple):
    """An image and what it is called: its file, and its place where the file has several."""

    name: str
    pixels: UInt8[np.ndarray, "h w 3"]


def read_images(path: Path) -> list[Picture]:
    """The image of a file, those of an array, or those of every image in a folder, in the order of names."""
    if not path.is_dir():
        return _collect(path, [path])
    files = sorted(p for p in path.iterdir() if p.suffix.lower() in (*PICTURE_SUFFIXES, *ARRAY_SUFFIXES))
    if not files:
        raise Refusal(f"{path} has no images: {EXPECTED_IMAGES} were expected.")
    return _collect(path, files)


def _collect(path: Path, files: list[Path]) -> list[Picture]:
    found, pixels = [], 0
    for image in chain.from_iterable(map(_read, files)):
        pixels += image.pixels.size // 3
        if pixels > limits.IMAGES_PIXELS:
            raise Refusal(
                f"The images of {path} have more than {limits.IMAGES_PIXELS:,} pixels together, which is the most that "
                "is read at once: take fewer of them, or scale them down."
            )
        found.append(image)
    return found


def read_image(path: Path, most_pixels: int = limits.IMAGE_PIXELS) -> UInt8[np.ndarray, "h w 3"]:
    """Returns the one image of a file; refuses one of more pixels before any is decoded."""
    found = list(_read(path, most_pixels))
    if len(found) != 1:
        raise Refusal(f"{path} has {len(found)} images, but one was expected.")
    return found[0].pixels


def grey(pixels: UInt8[np.ndarray, "h w 3"]) -> UInt8[np.ndarray, "h w"]:
    """How bright each pixel is."""
    return np.asarray(Files.fromarray(pixels).convert("L"))


def _read(path: Path, most_pixels: int = limits.IMAGE_PIXELS) -> Iterator[Picture]:
    if not path.is_file():
        raise Refusal(f"{path} is not a file.")
    if path.suffix.lower() in ARRAY_SUFFIXES:
        yield from _pictures_of_array(path)
    else:
        yield Picture(path.name, _decode(path, most_pixels))


def _decode(path: Path, most_pixels: int) -> UInt8[np.ndarray, "h w 3"]:
    """A picture file, put on white where it is transparent; on black where all would be white."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Pillow warns of sizes that are refused here
            with Files.open(path, formats=IMAGE_FORMATS) as file:
                _require_pixels(path, *file.size, most_pixels)
                colours = _eight_bits(ImageOps.exif_transpose(file)).convert("RGBA")
        on_white = _put_on("white", colours)
        return on_white if on_white.min() < WHITE_SHADE else _put_on("black", colours)
    except Refusal:
        raise
    except Files.DecompressionBombError:
        raise Refusal(
            f"{path} has more than {most_pixels:,} pixels, which is the most that is read: scale it down."
        ) from None
    except DECODER_FAULTS as error:
        said = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise Refusal(f"{path} cannot be read as an image ({said}): {EXPECTED_IMAGES} were expected.") from None


def _put_on(ground: str, colours: Files.Image) -> UInt8[np.ndarray, "h w 3"]:
    return np.asarray(Files.alpha_composite(Files.new("RGBA", colours.size, ground), colours).convert("RGB"))


def _eight_bits(image: Files.Image) -> Files.Image:
    """An image of 16 bits a pixel with the upper eight of them; others as they are."""
    if not image.mode.startswith("I"):
        return image
    return Files.fromarray((np.clip(np.asarray(image, np.int64), 0, 65535) >> 8).astype(np.uint8))


def _require_pixels(path: Path, width: int, height: int, most: int) -> None:
    if width * height > most:
        raise Refusal(
            f"{path} has {width:,} x {height:,} pixels, but {most:,} is the most that is read: scale it down."
        )


def _pictures_of_array(path: Path) -> Iterator[Picture]:
    """The images of .npy and .npz files; objects in them are never loaded."""
    try:
        arrays = _arrays(path)
    except Refusal:
        raise
    except DECODER_FAULTS as error:
        raise Refusal(f"{path} cannot be read as an array of images ({str(error)[:120]}).") from None
    for name, array in arrays:
        stack = array[None] if array.ndim == 2 or (array.ndim == 3 and array.shape[-1] in (3, 4)) else array
        if stack.ndim not in (3, 4) or (stack.ndim == 4 and stack.shape[-1] not in (3, 4)):
            raise Refusal(
                f"{path} holds an array of shape {array.shape}, but images were expected: height x width, with 3 or 4 "
                "colours behind, and a number of images in front."
            )
        for i, image in enumerate(stack):
            _require_pixels(path, image.shape[1], image.shape[0], limits.IMAGE_PIXELS)
            yield Picture(name if len(stack) == 1 else f"{name} {i + 1}", _colours(path, image))


def _arrays(path: Path) -> list[tuple[str, Shaped[np.ndarray, "..."]]]:
    if path.suffix.lower() == ".npy":
        with path.open("rb") as file:
            _require_array(path, file, path.stat().st_size)
            file.seek(0)
            return [(path.name, np.load(file, allow_pickle=False))]
    found = []
    with zipfile.ZipFile(path) as archive:
        parts = [part for part in archive.infolist() if part.filename.endswith(".npy")]
        if sum(part.file_size for part in parts) > (most := limits.expanded_bytes(path.stat().st_size)):
            raise Refusal(f"{path} expands to more than {most:,} bytes, which is the most that is read.")
        for part in parts:
            with archive.open(part) as file:
                _require_array(path, file, part.file_size)
            with archive.open(part) as file:
                array = np.lib.format.read_array(file, allow_pickle=False)
            found.append((f"{path.name} {part.filename.removesuffix('.npy')}", array))
    return found


def _require_array(path: Path, file: object, size: int) -> None:
    """Refuses an array whose header asks for more than the file has, or for too much."""
    version = np.lib.format.read_magic(file)  # type: ignore[arg-type]
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, kind = read(file)  # type: ignore[arg-type]
    values = int(np.prod([int(n) for n in shape], dtype=object))
    if kind.hasobject or kind.kind not in "biuf":
        raise Refusal(f"{path} holds {kind}, but numbers were expected.")
    if values * kind.itemsize > size or values > 4 * limits.IMAGES_PIXELS:
        raise Refusal(f"{path} claims an array of shape {shape}, which is more than it holds or than is read at once.")


def _colours(path: Path, image: Shaped[np.ndarray, "h w ..."]) -> UInt8[np.ndarray, "h w 3"]:
    """An array as colours: 0 and 1 are white and black, floats from 0 to 1 and integers to 255 are brightness."""
    if not image.size or not np.isfinite(image).all() or image.min() < 0 or image.max() > 255:
        raise Refusal(f"{path} holds an image without pixels, or with values outside of 0 to 255.")
    whole = image.dtype.kind in "bui"
    if image.max() <= 1:
        bright = np.where(image > 0, 0, 255) if whole else np.round(255 * image)
    elif whole:
        bright = image
    else:
        raise Refusal(f"{path} holds floats outside of 0 to 1: scale them, or save them as integers to 255.")
    bright = bright.astype(np.uint8)
    return np.repeat(bright[..., None], 3, axis=-1) if bright.ndim == 2 else np.ascontiguousarray(bright[..., :3])
