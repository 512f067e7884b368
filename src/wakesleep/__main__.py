"""The command line as a module: python -m wakesleep."""

from wakesleep.cli.app import main

if __name__ == "__main__":
    main()
