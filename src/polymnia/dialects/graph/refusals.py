"""How each graph dialect words what goes wrong. The texts of the seeds are the contract."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.json import encode

from polymnia import errors
from polymnia.errors import BadArguments, Fault, Violation
from polymnia.operation import Reply


def word(dialect: str) -> Callable[[Fault], Reply]:
    """The dialect's way to answer a fault."""
    return {"simple": _simple, "strict": _strict, "bilingual": _bilingual, "official": _official}[dialect]


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _listed(names: list[str]) -> str:
    """Names as the JSON array the seed shows: ["React", "Node.js"]."""
    return "[" + ", ".join(encode(name).decode() for name in names) + "]"


def _misfits(fault: BadArguments) -> str:
    return "Invalid arguments: " + "; ".join(map(str, fault.violations))


def _plain(fault: Fault) -> str:
    """The strict and simple sentence for a fault."""
    match fault:
        case errors.AlreadyExists():
            first, *more = fault.names
            also = f" (so do {_quoted(more)})" if more else ""
            return f'Entity "{first}" already exists{also}'
        case errors.MissingEnds():
            return f"Cannot create relation - entity missing: {_quoted(fault.names)}"
        case errors.NotFound():
            first, *more = fault.names
            also = f" (nor {_quoted(more)})" if more else ""
            return f'Entity "{first}" not found{also}'
        case BadArguments():
            return _misfits(fault)
        case _:
            return fault.message


def _simple(fault: Fault) -> Reply:
    text = _plain(fault)
    if not isinstance(fault, errors.NotFound | errors.AlreadyExists):
        text = f"{text}. {fault.hint}"
    return Reply(value={"error": text}, structured={"error": text}, is_error=True)


SOLUTIONS = {
    "not_found": "Create entity first or check name spelling",
    "already_exists": "Use add_observations to update or delete old entity",
    "missing_ends": "Ensure both entities exist before creating relation",
}
"""What strict advises where the seed has words of its own; elsewhere it is the fault's hint."""


def _strict(fault: Fault) -> Reply:
    solution = SOLUTIONS.get(fault.code, fault.hint)
    if isinstance(near := fault.details.get("nearest"), list):
        solution = f"{solution} (nearest: {_quoted(near)})"
    if isinstance(fault, errors.EmptyList) and fault.field == "Observations":
        solution = "Provide at least one observation when creating entity"
    return Reply(text=f"Error: {_plain(fault)}\nSolution: {solution}", is_error=True)


KOREAN = {
    "fault": "요청을 처리하지 못했습니다. 변경된 내용은 없습니다",
    "invalid": "잘못된 값입니다",
    "bad_arguments": "잘못된 인자입니다",
    "bad_text": "저장할 수 없는 문자가 들어 있습니다",
    "empty_list": "배열은 비어있을 수 없습니다",
    "over_limit": "허용된 한도를 넘었습니다",
    "unknown_operation": "알 수 없는 이름입니다",
    "not_found": "다음 엔티티를 찾을 수 없습니다",
    "already_exists": "이름을 가진 엔티티가 이미 존재합니다",
    "missing_ends": "다음 엔티티를 찾을 수 없습니다",
    "many_texts": "관찰 내용이 여러 개여서 하나의 글로 바꿀 수 없습니다",
    "conflict": "나중에 이루어진 변경과 충돌합니다",
    "cancelled": "요청이 취소되었습니다. 변경된 내용은 없습니다",
    "refused": "서버 설정에 따라 허용되지 않습니다",
    "over_quota": "프로젝트에 저장할 수 있는 양을 넘습니다",
    "not_allowed": "이 키로는 허용되지 않습니다",
    "export_failed": "내보내기 파일을 쓰지 못했습니다",
    "import_failed": "가져오기에 실패했습니다. 가져온 내용은 없습니다",
    "unavailable": "저장소를 사용할 수 없습니다",
    "busy": "다른 프로세스가 저장소를 사용하고 있습니다. 잠시 후 다시 시도하세요",
    "interrupted": "저장소와의 연결이 끊어졌거나 다른 변경과 충돌했습니다. 변경된 것은 없습니다. 다시 시도하세요",
    "too_new": "더 새로운 버전의 Polymnia가 만든 저장소입니다",
    "not_a_store": "Polymnia 저장소가 아닌 파일입니다",
    "damaged": "저장소가 손상되었습니다",
    "broken_file": "저장 파일을 읽을 수 없습니다: 잘못된 JSON 형식",
    "no_library": "이 분석에 필요한 라이브러리가 설치되어 있지 않습니다",
    "no_model": "의미 검색에 쓰는 모델을 사용할 수 없습니다. 단어 검색은 그대로 됩니다",
    "no_space": "디스크에 쓸 수 없습니다. 변경된 내용은 없습니다",
    "forbidden": "저장소를 읽거나 쓸 권한이 없습니다",
}
"""The second line of bilingual errors, for every fault there is."""

_KOREAN_TYPES = {
    "array": "배열",
    "string": "문자열",
    "object": "객체",
    "number": "숫자",
    "int": "정수",
    "boolean": "참/거짓",
}


def _bilingual(fault: Fault) -> Reply:
    english, korean = _in_both(fault)
    return Reply(text=f"Error: {english}\n{korean}", is_error=True)


def _in_both(fault: Fault) -> tuple[str, str]:
    match fault:
        case errors.AlreadyExists():
            name, *more = fault.names
            also = f" (so do {_quoted(more)})" if more else ""
            return f'Entity with name "{name}" already exists{also}', f"{_quoted(fault.names)} {KOREAN[fault.code]}"
        case errors.NotFound():
            names, near = _listed(fault.names), fault.details.get("nearest")
            english, korean = f"Entities not found: {names}", f"{KOREAN[fault.code]}: {names}"
            if isinstance(near, list):
                english, korean = (
                    f"{english} (nearest: {_listed(near)})",
                    f"{korean} (가장 비슷한 이름: {_listed(near)})",
                )
            return english, korean
        case errors.EmptyList():
            of = f": {fault.of}" if fault.of else ""
            return (
                f"Invalid arguments: {fault.field} array cannot be empty{of}",
                f"잘못된 인자: {fault.field} 배열은 비어있을 수 없습니다{of}",
            )
        case BadArguments():
            pairs = [_misfit_in_both(one) for one in fault.violations]
            english, korean = ("; ".join(dict.fromkeys(texts)) for texts in zip(*pairs, strict=True))
            return f"Invalid arguments: {english}", f"잘못된 인자: {korean}"
        case _:
            return f"{fault.message}. {fault.hint}", KOREAN[fault.code] + _korean_details(fault)


def _misfit_in_both(one: Violation) -> tuple[str, str]:
    """One misfit in English and in Korean; a list that is missing in the words of the seed."""
    where = f"{one.path} ({one.of!r})" if one.of else one.path
    if one.given == "unknown":
        meant = f" ({one.near}을(를) 쓰려고 했습니까?)" if one.near else ""
        return str(one), f"{where} 매개변수는 없습니다{meant}"
    if one.given == "empty":
        return str(one), f"{where} 값은 비어있을 수 없습니다"
    if one.expected == "array" and "[" not in one.path:
        return f"{one.path} array is required", f"{one.path} 배열이 필요합니다"
    if one.given == "undefined":
        return str(one), f"{where} 값이 필요합니다 ({_KOREAN_TYPES.get(one.expected, one.expected)})"
    if one.range is not None:
        least, most = one.range
        return str(one), f"{where} 값은 {least}에서 {most} 사이의 숫자여야 합니다"
    return str(one), f"{where} 값은 {_KOREAN_TYPES.get(one.expected, one.expected)} 형식이어야 합니다"


def _korean_details(fault: Fault) -> str:
    """The facts of a fault that need no grammar: which field, which limit, which files."""
    match fault.details:
        case {"kept": kept, "recovered": recovered}:
            return f" (원본 보관: {kept}, 복구된 파일: {recovered})"
        case {"field": field, "size": size, "limit": limit, "setting": setting}:
            return f": {field} {size:,} > {limit:,} ({setting})"
        case {"field": field}:
            return f": {field}"
        case _:
            return ""


def _official(fault: Fault) -> Reply:
    match fault:
        case BadArguments():
            misfits = "\n".join(
                f"Invalid input: expected {v.expected}, received {v.given}" + (f" at {v.path}" if v.path else "")
                for v in fault.violations
            )
            text = f"MCP error -32602: Input validation error: Invalid arguments for tool {fault.operation}: {misfits}"
        case errors.NotFound():
            text = f"Entity with name {fault.names[0]} not found"
        case _:
            text = f"{fault.message}. {fault.hint}"
    return Reply(text=text, is_error=True)


def unknown_official_tool(name: str) -> Reply:
    """What the npm release answers to a tool it does not have."""
    return Reply(text=f"MCP error -32602: Tool {name} not found", is_error=True)
