"""Settings: from the command line, from the environment, or as they ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from form import each
from polymnia.settings import NETWORK, SETTINGS, BadSetting, Settings, read, read_file, without_password

_BY_NAME = {setting.name: setting for setting in SETTINGS}
_NUMBERS = [setting.name for setting in SETTINGS if setting.kind in (int, float)]
_CHOICES = [setting.name for setting in SETTINGS if setting.choices]


def test_without_anything_said_every_setting_is_as_shipped() -> None:
    settings = Settings({}, {})
    assert {name: getattr(settings, name) for name in _BY_NAME} == {s.name: s.default for s in SETTINGS}


def test_every_setting_has_a_flag_a_variable_and_a_sentence() -> None:
    for setting in SETTINGS:
        assert setting.flag.startswith("--")
        assert "_" not in setting.flag
        assert setting.variable == f"POLYMNIA_{setting.name.upper()}"
        assert setting.help.endswith(".")
    assert len({setting.flag for setting in SETTINGS}) == len(SETTINGS)


def _example(name: str) -> tuple[str, object]:
    """A value other than the default, as a text and as what it means."""
    setting = _BY_NAME[name]
    text = setting.choices[-1] if setting.choices else "7" if setting.kind in (int, float) else "some thing"
    return text, setting.kind(text)


def test_a_setting_comes_from_the_command_line_before_the_environment() -> None:
    for name, setting in _BY_NAME.items():
        text, value = _example(name)
        from_environment = Settings({}, {setting.variable: text})
        assert getattr(from_environment, name) == value
        assert type(getattr(from_environment, name)) is type(value)
        if setting.secret:
            for words in ([setting.flag, text], [f"{setting.flag}={text}"]):
                with pytest.raises(BadSetting, match=setting.variable) as refused:
                    read(words)
                assert text not in str(refused.value)
            continue
        given = read([setting.flag, text])
        assert given == read([f"{setting.flag}={text}"]) == {name: value}
        other = setting.choices[0] if setting.choices else "9" if name in _NUMBERS else "another"
        assert getattr(Settings(given, {setting.variable: other}), name) == value


def test_an_empty_variable_is_no_value() -> None:
    settings = Settings({}, {setting.variable: "" for setting in SETTINGS})
    assert {name: getattr(settings, name) for name in _BY_NAME} == {s.name: s.default for s in SETTINGS}


def test_flags_are_read_in_any_order_and_the_last_one_counts() -> None:
    assert read([]) == {}
    assert read(["--project", "a", "--store=x=y", "--max-batch", "5", "--project", "b"]) == {
        "project": "b",
        "store": "x=y",
        "max_batch": 5,
    }


def test_a_file_may_be_asked_for_without_naming_it() -> None:
    assert read(["--file"]) == {"file": ""}
    assert read(["--file", "--dialect", "simple"]) == {"file": "", "dialect": "simple"}
    assert read(["--file", "memory.json"]) == {"file": "memory.json"}
    assert read(["--file=memory.json"]) == {"file": "memory.json"}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--unknown"], "no option --unknown"),
        (["--stor", "x"], "no option --stor"),
        (["store"], "no option store"),
        (["--store", "a", "b"], "no option b"),
        (["-s", "x"], "no option -s"),
        (["--store"], "--store needs a value"),
        (["--store", "--project", "x"], "--store needs a value"),
    ],
    ids=lambda part: " ".join(part) if isinstance(part, list) else None,
)
def test_a_command_line_that_makes_no_sense_is_refused_with_the_reason(arguments: list[str], words: str) -> None:
    with pytest.raises(BadSetting, match=words):
        read(arguments)


def test_a_choice_that_does_not_exist_is_refused_with_those_that_do() -> None:
    for name in _CHOICES:
        setting = _BY_NAME[name]
        one_of = r"must be one of: .*" + setting.choices[-1]
        with pytest.raises(BadSetting, match=one_of):
            read([setting.flag, "Nonsense"])
        with pytest.raises(BadSetting, match=one_of):
            read([f"{setting.flag}="])
        with pytest.raises(BadSetting, match=one_of):
            Settings({}, {setting.variable: "Nonsense"})


@each("text", ["0", "-1", "many", " ", "1,5", "0x10", "nan", "inf", "-inf", "1e400"])
def test_a_number_that_cannot_be_meant_is_refused_with_its_source(text: str) -> None:
    for name in _NUMBERS:
        setting = _BY_NAME[name]
        if text == "0" and setting.zero:
            assert read([f"{setting.flag}=0"]) == {name: 0}
            continue
        with pytest.raises(BadSetting, match=f"^{setting.flag} is "):
            read([f"{setting.flag}={text}"])
        with pytest.raises(BadSetting, match=f"^{setting.variable} is "):
            Settings({}, {setting.variable: text})


def test_seconds_may_have_parts_and_counts_may_not() -> None:
    assert read(["--busy-timeout", "0.25"]) == {"busy_timeout": 0.25}
    with pytest.raises(BadSetting):
        read(["--max-batch", "0.25"])


def test_a_setting_that_does_not_exist_is_refused_by_name() -> None:
    with pytest.raises(BadSetting, match=r"no setting colour, shape"):
        Settings({"shape": 1, "colour": 2, "store": "x"}, {})


def test_a_value_of_none_is_no_value() -> None:
    assert Settings({"project": None}, {"POLYMNIA_PROJECT": "from outside"}).project == "from outside"


# ── the file ────────────────────────────────────────────────────────────────────────────────────────────────


def _file(folder: Path, text: str) -> str:
    path = folder / "polymnia.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_setting_comes_from_the_file_after_everything_else(tmp_path: Path) -> None:
    for name in _BY_NAME.keys() - {"config"}:
        setting = _BY_NAME[name]
        text, value = _example(name)
        file = read_file(_file(tmp_path, f"{name} = {text if name in _NUMBERS else repr(text)}"))
        assert getattr(Settings({}, {}, file), name) == value
        other = setting.choices[0] if setting.choices else "9" if name in _NUMBERS else "another"
        assert getattr(Settings({}, {setting.variable: other}, file), name) == setting.kind(other)
        assert Settings({}, {}, file).sources[name] == "file"
        assert Settings({}, {setting.variable: other}, file).sources[name] == setting.variable
        if not setting.secret:
            assert Settings(read([setting.flag, text]), {}, file).sources[name] == setting.flag
        assert Settings({}, {}).sources[name] == "default"


def test_on_and_off_may_be_true_and_false_and_names_may_have_dashes(tmp_path: Path) -> None:
    text = "require-session = true\ncount_reads = false\nmax_batch = 5\nbusy_timeout = 2\n"
    file = read_file(_file(tmp_path, text))
    assert file == {"require_session": "on", "count_reads": "off", "max_batch": 5, "busy_timeout": 2.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("stroe = 'x'", "no setting 'stroe'; did you mean store"),
        ("nonsense = 1", "no setting 'nonsense'$"),
        ("config = 'x'", "no setting 'config'"),
        ("store = 5", "must be a text, in quotes"),
        ("store = true", "must be a text or a number"),
        ("max_batch = [1]", "must be a text or a number"),
        ("max_batch = 0", "max_batch is '0'"),
        ("dialect = 'all of them'", "must be one of"),
        ("[server]\nstore = 'x'", r"\[server\] is a section, but settings stand without one"),
        ("store = ", "is no TOML"),
        ("store = '\udcff'", "is no TOML"),
    ],
)
def test_a_file_that_makes_no_sense_is_refused_with_its_name_and_the_reason(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "polymnia.toml"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadSetting, match=words) as caught:
        read_file(str(path))
    assert "polymnia.toml" in str(caught.value)


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="cannot be read"):
        read_file(str(tmp_path / "none.toml"))


def test_a_misspelt_option_is_told_what_was_meant() -> None:
    with pytest.raises(BadSetting, match="no option --stor; did you mean --store"):
        read(["--stor", "x"])


def test_an_option_of_the_network_is_refused_where_there_is_none() -> None:
    with pytest.raises(BadSetting, match="no option --port here: it is one of polymnia serve"):
        read(["--port", "5"], NETWORK)


@pytest.mark.parametrize("name", ["store", "file", "config", "keys", "export_dir", "embedder_key_file"])
def test_an_address_where_a_file_is_meant_is_refused_and_not_shown(name: str) -> None:
    for source in ({name: "postgresql+x://ann:geheim@host/db"}, {}):
        environment = {} if source else {_BY_NAME[name].variable: "postgresql+x://ann:geheim@host/db"}
        with pytest.raises(BadSetting, match=r"address \(postgresql\+x://…\)") as refused:
            Settings(source, environment)
        assert "geheim" not in str(refused.value)
    assert getattr(Settings({name: "a:b/c"}, {}), name) == "a:b/c"


def test_the_password_of_a_database_is_taken_from_the_environment_and_never_from_the_command_line() -> None:
    for address in ("postgresql://ann:geheim@host/db", "postgresql://ann@host/db?password=geheim"):
        with pytest.raises(BadSetting, match="POLYMNIA_STORE") as refused:
            read(["--store", address])
        assert "geheim" not in str(refused.value)
        given = Settings({}, {"POLYMNIA_STORE": address})
        assert Settings({**given.values(), "dialect": "native"}, {}).store == address, "a server's own copy"


def test_an_address_of_a_database_that_is_mistyped_makes_no_file() -> None:
    for text in ("postgres:/host/db", "postgresql:host/db"):
        with pytest.raises(BadSetting, match="postgresql://HOST/DATABASE"):
            Settings({}, {"POLYMNIA_STORE": text})


def test_an_address_is_shown_without_its_password() -> None:
    assert without_password("https://ann:geheim@host:8080/v1?key=geheim") == "https://host:8080/v1"
    assert without_password("http://127.0.0.1:9") == "http://127.0.0.1:9"
