import { pointerTo } from '../base/json-pointer.js';
import { isDeepStrictEqual } from 'node:util';
import { isRecord } from '../base/is-record.ts';
import { environmentNames } from './environment.ts';
import { references, sealedPrefix } from './gateway-file.ts';

export interface WrittenSecret {
  readonly path: readonly (string | number)[];
  readonly place: string;
  /** `<channel>.<credential>`, or the id of a notice target. */
  readonly of: string;
  readonly value: string;
  readonly origin?: string | undefined;
}

/** Finds secrets written as literal text instead of a variable's name. Also works for invalid files. */
export function secretsIn(file: unknown, isWanted = isWritten): readonly WrittenSecret[] {
  return textsIn(file).filter(({ place, value }) => isSecretPlace(place) && isWanted(value));
}

export function draftSecretsIn(file: unknown): readonly WrittenSecret[] {
  return secretsIn(file).filter(({ place }) => !isOfFile(place));
}

/**
 * Returns the origin of the server that a secret was entered for. A stored secret is sent only there, even if the text
 * around it changes.
 */
export function originOfWritten(
  { value, origin }: WrittenSecret,
  before: readonly WrittenSecret[],
): string | undefined {
  const same = before.filter((secret) => secret.value === value);
  return (same.find((secret) => secret.origin === origin) ?? same[0] ?? { origin }).origin;
}

/**
 * Returns what the draft must not contain. Files are local to this machine, but drafts arrive over the network, so less
 * is allowed in them.
 */
export function draftIssues(
  running: unknown,
  draft: unknown,
  originOf: ReadonlyMap<string, string | undefined>,
): readonly string[] {
  const known = textsIn(running);
  const before = new Map(known.map(({ place, value }) => [place, value]));
  const networks = new Set(known.flatMap(networkIn));
  const issues = textsIn(draft).flatMap((text) => {
    const { place, value } = text;
    if (isOfFile(place)) return [];
    const at = place.replaceAll('/', '.').slice(1);
    if (networkIn(text).some((network) => !networks.has(network)))
      return [`${at}: a draft cannot add this; add it to gateway.yaml and reload the file`];
    return namesIn(value).flatMap((name) => {
      const sealed = name.startsWith(sealedPrefix) ? name.slice(sealedPrefix.length) : undefined;
      if (sealed !== undefined) return sealedIssue(sealed, { at, text, originOf });
      return before.get(place) === value ? [] : variableIssue(name, { at, text });
    });
  });
  return [...new Set([...ofFileIssues(running, draft), ...issues])];
}

function ofFileIssues(running: unknown, draft: unknown): string[] {
  return ofFile
    .filter((names) => !isDeepStrictEqual(valueAt(running, names), valueAt(draft, names)))
    .map((names) => `${names.join('.')}: this can be changed only in gateway.yaml`);
}

interface Named {
  readonly at: string;
  readonly text: WrittenSecret;
}

function sealedIssue(
  name: string,
  { at, text, originOf }: Named & { readonly originOf: ReadonlyMap<string, string | undefined> },
): string[] {
  if (!isWholeSecret(text))
    return [`${at}: a sealed value must be the entire value of a secret, such as an api_key`];
  if (!originOf.has(name) || originOf.get(name) === text.origin) return [];
  return [
    `${at}: this secret was entered for ${originOf.get(name) ?? 'another place'}; enter it again for its new use`,
  ];
}

function variableIssue(name: string, { at, text }: Named): string[] {
  if (environmentNames.includes(name))
    return [`${at}: ${name} is one of the gateway’s own settings, so a draft must not use it`];
  return isWholeSecret(text) ? [] : [`${at}: in a draft, a variable must be the entire value of a secret`];
}

function isWholeSecret({ place, value }: WrittenSecret): boolean {
  return isSecretPlace(place) && /^\$\{[^}]*\}$/.test(value);
}

export function isSecretPlace(place: string): boolean {
  return secretPlaces.test(place);
}

const secretPlaces =
  /^\/(?:channels\/[^/]*\/credentials\/[^/]*\/(?:api_key|callback_secret)|notify\/targets\/[^/]*\/(?:url|secret)|(?:results|ledger\/heads)\/s3\/(?:access_key_id|secret_access_key)|ledger\/heads\/token)$/;

/** These settings affect the machine and its network: commands, directories, and addresses that need not be public. */
const ofFile: readonly (readonly string[])[] = [['results'], ['ledger', 'heads'], ['notify', 'targets']];

export function isOfFile(place: string): boolean {
  return ofFile.some((names) => `${place}/`.startsWith(`/${names.join('/')}/`));
}

function valueAt(file: unknown, names: readonly string[]): unknown {
  return names.reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), file);
}

function networkIn({ place, value }: WrittenSecret): readonly string[] {
  const [permission] = /^\/channels\/[^/]*\/private_(?:link_)?networks(?=\/)/.exec(place) ?? [];
  return permission === undefined ? [] : [`${permission} ${value}`];
}

function isWritten(value: string): boolean {
  return value !== '' && namesIn(value).length === 0;
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(references)].map(([, name = '']) => name);
}

export function sealedNamesIn(text: string): readonly string[] {
  return namesIn(text).flatMap((name) =>
    name.startsWith(sealedPrefix) ? [name.slice(sealedPrefix.length)] : [],
  );
}

function textsIn(file: unknown): readonly WrittenSecret[] {
  const found: WrittenSecret[] = [];
  const walk = (value: unknown, at: Omit<WrittenSecret, 'value'>): void => {
    if (typeof value === 'string') return void found.push({ ...at, value });
    if (!Array.isArray(value) && !isRecord(value)) return;
    for (const [name, item] of Object.entries(value)) {
      const id =
        isRecord(item) && Array.isArray(value) && typeof item['id'] === 'string' ? item['id'] : undefined;
      walk(item, {
        path: [...at.path, Array.isArray(value) ? Number(name) : name],
        place: `${at.place}${pointerTo(id ?? name)}`,
        of: id === undefined ? at.of : [at.of, id].filter(Boolean).join('.'),
        origin: at.place === '/channels' ? originIn(item) : at.origin,
      });
    }
  };
  walk(file, { path: [], place: '', of: '' });
  return found;
}

function originIn(channel: unknown): string {
  const url = isRecord(channel) && typeof channel['base_url'] === 'string' ? channel['base_url'] : '';
  return URL.canParse(url) ? new URL(url).origin : url;
}
