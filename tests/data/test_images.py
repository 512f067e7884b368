"""Images are read as colours on white, and what is too large is refused before it is decoded."""

import io
import random
import struct
import subprocess
import sys
import zipfile
import zlib

import numpy as np
import pytest
from PIL import Image

from wakesleep.data import limits
from wakesleep.data.images import grey, read_image, read_images
from wakesleep.errors import Refusal

CELLS = np.array([[0, 1, 0, 0, 1], [1, 1, 0, 1, 0]], np.uint8)
BLACK_ON_WHITE = np.repeat(255 * (1 - CELLS)[..., None], 3, axis=-1)


def png_header(width, height):
    """A PNG file that says how large it is and holds a few bytes."""
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(1000))),
        (b"IEND", b""),
    ]
    parts = [struct.pack(">I", len(d)) + k + d + struct.pack(">I", zlib.crc32(k + d)) for k, d in chunks]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "I;16"])
def test_png_of_every_kind(tmp_path, mode):
    if mode == "I;16":
        Image.fromarray((65535 * (1 - CELLS.astype(int))).astype(np.uint16)).save(tmp_path / "a.png")
    else:
        Image.fromarray(BLACK_ON_WHITE).convert("RGBA").convert(mode).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), BLACK_ON_WHITE)


def test_what_is_transparent_is_white(tmp_path):
    colours = np.dstack([np.zeros((2, 5, 3), np.uint8), 255 * CELLS])
    Image.fromarray(colours).save(tmp_path / "a.png")
    np.testing.assert_array_equal(read_image(tmp_path / "a.png"), BLACK_ON_WHITE)
    np.testing.assert_array_equal(grey(read_image(tmp_path / "a.png")), 255 * (1 - CELLS))


def test_jpeg_and_the_first_frame_of_a_gif(tmp_path):
    first, second = (Image.fromarray(a) for a in (BLACK_ON_WHITE, 255 - BLACK_ON_WHITE))
    first.save(tmp_path / "a.gif", save_all=True, append_images=[second])
    np.testing.assert_array_equal(read_image(tmp_path / "a.gif"), BLACK_ON_WHITE)
    big = np.kron(BLACK_ON_WHITE, np.ones((16, 16, 1), np.uint8))
    Image.fromarray(big).save(tmp_path / "a.jpg", quality=95)
    assert np.abs(read_image(tmp_path / "a.jpg").astype(int) - big).mean() < 5


@pytest.mark.parametrize("kind", [bool, np.uint8, np.int64])
def test_arrays_of_zeros_and_ones_are_white_and_black(tmp_path, kind):
    np.save(tmp_path / "a.npy", CELLS.astype(kind))
    np.savez(tmp_path / "b.npz", one=CELLS.astype(kind), some=np.stack([CELLS, 1 - CELLS]).astype(kind))
    found = read_images(tmp_path)
    assert [p.name for p in found] == ["a.npy", "b.npz one", "b.npz some 1", "b.npz some 2"]
    for picture in found[:3]:
        np.testing.assert_array_equal(picture.pixels, BLACK_ON_WHITE)
    np.testing.assert_array_equal(found[3].pixels, 255 - BLACK_ON_WHITE)


def test_arrays_of_brightness(tmp_path):
    for i, array in enumerate((BLACK_ON_WHITE, 1.0 - CELLS, (255 * (1 - CELLS)).astype(np.int32))):
        np.save(tmp_path / f"{i}.npy", array)
        np.testing.assert_array_equal(read_image(tmp_path / f"{i}.npy"), BLACK_ON_WHITE)


@pytest.mark.parametrize(
    ("name", "make", "sentence"),
    [
        ("a.png", b"no picture", "cannot be read as an image"),
        ("a.png", png_header(100_000, 100_000), "has more than 16,777,216 pixels"),
        ("a.png", png_header(5000, 5000), "5,000 x 5,000 pixels"),
        ("a.png", png_header(2**31 - 1, 2**31 - 1), "pixels|cannot be read as an image"),
        ("a.png", png_header(64, 64)[:45], "cannot be read as an image"),
        ("a.gif", b"GIF89a" + struct.pack("<HH", 65535, 65535) + bytes(40), "pixels|cannot be read as an image"),
        ("a.npy", b"\x93NUMPY", "cannot be read as an array"),
        ("a.npy", np.array([{"a": 1}], object), "numbers were expected"),
        ("a.npy", np.array(["a"]), "numbers were expected"),
        ("a.npy", np.zeros(3), "images were expected"),
        ("a.npy", np.array([[np.nan, 1.0]]), "without pixels, or with values outside"),
        ("a.npy", np.array([[0.0, 2.5]]), "floats outside of 0 to 1"),
        ("a.npz", b"PK", "cannot be read as an array"),
    ],
)
def test_bad_images_are_refused_in_one_sentence(tmp_path, name, make, sentence):
    path = tmp_path / name
    if isinstance(make, bytes):
        path.write_bytes(make)
    else:
        np.save(path, make)
    with pytest.raises(Refusal, match=sentence) as refused:
        read_image(path)
    assert "\n" not in str(refused.value)


def test_an_array_that_claims_more_than_it_holds_is_refused(tmp_path):
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "|u1", "fortran_order": False, "shape": (10**6, 10**6)})
    (tmp_path / "a.npy").write_bytes(header.getvalue())
    with pytest.raises(Refusal, match="more than it holds"):
        read_image(tmp_path / "a.npy")
    with zipfile.ZipFile(tmp_path / "a.npz", "w", zipfile.ZIP_DEFLATED) as archive, archive.open("a.npy", "w") as file:
        for _ in range(100):
            file.write(bytes(1 << 20))
    with pytest.raises(Refusal, match="expands to more than"):
        read_image(tmp_path / "a.npz")


def test_files_cut_anywhere_or_with_bytes_changed_end_in_an_image_or_a_sentence(tmp_path):
    draw, cells = random.Random(0), np.kron(CELLS, np.ones((8, 8), np.uint8))
    for name in ("a.png", "a.jpg", "a.gif", "a.bmp"):
        Image.fromarray(255 * cells).save(tmp_path / name)
    np.save(tmp_path / "a.npy", cells)
    np.savez_compressed(tmp_path / "a.npz", a=cells, b=cells)
    for path in sorted(tmp_path.iterdir()):
        whole = path.read_bytes()
        for _ in range(60):
            changed = bytearray(whole[: draw.randrange(1, len(whole) + 1)] if draw.random() < 0.3 else whole)
            for _ in range(draw.randrange(1, 8)):
                changed[draw.randrange(min(len(changed), 128))] = draw.randrange(256)
            path.write_bytes(changed)
            try:
                read_images(path)
            except Refusal as refused:
                assert "\n" not in str(refused), str(refused)


def test_many_images_together_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "IMAGES_PIXELS", 15)
    np.save(tmp_path / "a.npy", np.stack([CELLS, CELLS]))
    with pytest.raises(Refusal, match="more than 15 pixels together"):
        read_images(tmp_path)


def test_a_folder_without_images_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(Refusal, match="has no images: PNG"):
        read_images(tmp_path)
    with pytest.raises(Refusal, match="is not a file"):
        read_images(tmp_path / "none.png")


def test_a_large_picture_is_refused_within_little_memory(tmp_path):
    """A real picture of 400 million pixels in 50 kB: the process may take no more than 300 MB beyond its start."""
    Image.new("1", (20_000, 20_000)).save(tmp_path / "a.png")
    code = (
        "import sys, resource; from pathlib import Path; from wakesleep.data.images import read_image\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: read_image(Path(sys.argv[1]))\n"
        "except ValueError as refused: print(refused)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "a.png")], capture_output=True, text=True, check=True
    )
    said, grown = done.stdout.splitlines()
    assert "has more than 16,777,216 pixels" in said
    assert int(grown) < 300_000


def test_a_first_look_at_an_image_is_by_the_same_reader_and_of_few_pixels(tmp_path, monkeypatch):
    from PIL import Image as Files

    from wakesleep.data import sniff

    Files.new("RGB", (4, 2), "white").save(tmp_path / "a.png")
    assert sniff.colours(tmp_path / "a.png") == [1.0]
    monkeypatch.setattr(sniff, "PIXELS_LOOKED_AT", 7)
    assert sniff.colours(tmp_path / "a.png") is None
    (tmp_path / "b.png").write_bytes((tmp_path / "a.png").read_bytes()[:40])
    assert sniff.colours(tmp_path / "b.png") is None
