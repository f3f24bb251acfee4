"""Parts of scripts/build_images.py."""
