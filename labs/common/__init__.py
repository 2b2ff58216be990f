"""What every room uses: units, files, paths, tables. Nothing here knows of measuring."""
