"""In the build: picks the files that an image is made of, layer by layer, and lists what they come from."""
