"""Families: things of one kind, of which a project or a person mostly has one. Names of one thing stand together."""

from __future__ import annotations

import re
from functools import cache

__all__ = ["family", "named", "systems"]

# A line for each family, and what is indented goes on with it; ways to write one thing are joined by =, _ is a space.
_TABLE = """
postgresql=postgres=포스트그레스=포스트그레SQL mysql=마이sql
  mariadb=마리아db oracle=오라클 sql_server=mssql sqlite mongodb=mongo=몽고db cockroachdb aurora dynamodb db2
  couchdb firestore
clickhouse bigquery snowflake redshift=레드시프트
react=react.js=리액트 vue=vue.js=뷰 angular=앵귤러 svelte=스벨트 ember solid=solidjs
django=장고 flask=플라스크 fastapi rails=ruby_on_rails laravel=라라벨
  spring=spring_boot=스프링=스프링_부트 express=express.js nestjs phoenix asp.net
npm yarn pnpm bun
pip poetry pipenv conda uv pdm
webpack vite rollup parcel esbuild turbopack
jenkins=젠킨스 github_actions=깃허브_액션=깃허브_액션스 gitlab_ci circleci travis=travis_ci teamcity
  buildkite azure_pipelines
git=깃 svn=subversion mercurial=hg perforce
github=깃허브 gitlab=깃랩 bitbucket=비트버킷
aws=amazon_web_services gcp=google_cloud azure=애저 heroku=헤로쿠 hetzner digitalocean
jira=지라 linear asana=아사나 trello=트렐로 clickup redmine=레드마인
terraform=테라폼 pulumi=풀루미 cloudformation
ansible=앤서블 puppet chef saltstack
kubernetes=k8s=쿠버네티스 nomad docker_swarm
rabbitmq=래빗mq kafka=카프카 sqs nats activemq
elasticsearch=엘라스틱서치 opensearch meilisearch solr=솔라 algolia typesense
redux=리덕스 mobx zustand recoil pinia vuex
rest=rest_api graphql=그래프ql grpc soap
jwt=jwts session_cookies=sessions=세션_쿠키=세션 oauth basic_auth=basic_authentication
auth0 keycloak=키클록 okta cognito clerk firebase_auth
pytest unittest nose nose2
jest mocha vitest jasmine
cypress playwright selenium=셀레늄 puppeteer
black yapf autopep8
sqlalchemy django_orm peewee tortoise
tabs=탭 spaces=스페이스=공백
snake_case camelcase pascalcase kebab-case
dark_mode=dark_theme=다크_모드=다크모드=어두운_모드 light_mode=light_theme=라이트_모드=라이트모드=밝은_모드
mit=mit_license apache=apache_2.0=apache_license gpl=gplv3=gplv2 bsd agpl mpl proprietary
vim=neovim=빔 emacs=이맥스 vs_code=vscode=visual_studio_code=비주얼_스튜디오_코드 intellij=인텔리제이
  pycharm=파이참 sublime=sublime_text nano
macos=mac=맥 windows=윈도우=윈도 linux=리눅스
android=안드로이드 ios=아이폰=iphone
ubuntu=우분투 debian=데비안 fedora=페도라 centos=센토스 arch=arch_linux alpine
zsh bash fish powershell
metric=metric_units=미터법 imperial=imperial_units
celsius=섭씨 fahrenheit=화씨
euros=eur=유로 dollars=usd=달러 pounds=gbp=파운드 yen=jpy=엔 won=krw=원화
tea=차=홍차 coffee=커피
window_seats=window_seat=창가_자리=창가 aisle_seats=aisle_seat=통로_자리=통로
존댓말=높임말=경어 반말=평어
formal_tone=formal_style=격식체 casual_tone=informal_tone=casual_style=비격식체
monthly_plan=월간_요금제 yearly_plan=annual_plan=연간_요금제
scrum=스크럼 kanban=칸반
monorepo=모노레포 polyrepo=multirepo=multi-repo=멀티레포
"""
_ARTICLE = re.compile(r"^(?:the|a|an|our|my)\s+", re.IGNORECASE)
_VERSION = re.compile(r"(?<!\s)\s+v?\d[\w.]*$")


@cache
def _members() -> dict[str, tuple[int, str]]:
    return {
        way.replace("_", " ").casefold() if "_case" not in way else way: (line, names.split("=")[0])
        for line, entry in enumerate(_TABLE.strip().replace("\n  ", " ").splitlines())
        for names in entry.split()
        for way in names.split("=")
    }


def named(value: str) -> str:
    """A value by its usual name, without article and version; as it is where it has no other."""
    bare = _VERSION.sub("", _ARTICLE.sub("", value.strip())).casefold()
    return _members().get(bare, (0, bare))[1]


def systems(value: str) -> bool:
    """Whether a value is an operating system, of which software runs on several."""
    return named(value) in ("macos", "windows", "linux", "android", "ios")


def family(value: str) -> int | None:
    """The number of the family of a value, or None where it has none."""
    bare = _VERSION.sub("", _ARTICLE.sub("", value.strip())).casefold()
    found = _members().get(bare)
    return found[0] if found else None
