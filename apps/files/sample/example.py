import json


def load_config(path="data/config.json"):
    """Reads the settings of the greeting."""
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def greet(name):
    config = load_config()
    return f"{config['greeting']}, {name}!"


if __name__ == "__main__":
    print(greet("world"))
