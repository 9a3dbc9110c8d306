import { isRecord } from '../base/is-record.ts';
import { environmentNames } from './environment.ts';
import { references, sealedPrefix } from './gateway-file.ts';

/** The places of gateway.yaml whose texts are secrets, and what a draft may do with them. */

export interface WrittenSecret {
  readonly path: readonly (string | number)[];
  /** The path with ids in place of numbers. */
  readonly place: string;
  /** Of what it is a secret: `<channel>.<credential>`. */
  readonly of: string;
  readonly value: string;
  /** Where the secret is sent. Undefined: not to a channel's upstream. */
  readonly origin?: string | undefined;
}

/** Secrets that are written in a file, and not named. Works on any value. */
export function secretsIn(file: unknown, isWanted = isWritten): readonly WrittenSecret[] {
  return textsIn(file).filter(({ place, value }) => secretPlaces.test(place) && isWanted(value));
}

/** What a draft may not contain, although a file may: it comes over the network, and a file from this machine. */
export function draftIssues(
  running: unknown,
  draft: unknown,
  originOf: ReadonlyMap<string, string | undefined>,
): readonly string[] {
  const known = textsIn(running);
  const allowed = new Set(known.filter(isHostly).map(({ place, value }) => `${lastName(place)} ${value}`));
  const variables = new Set(known.flatMap(({ value }) => namesIn(value)));
  const issues = textsIn(draft).flatMap((text) => {
    const { place, value, origin } = text;
    const at = place.replaceAll('/', '.').slice(1);
    if (isHostly(text) && !allowed.has(`${lastName(place)} ${value}`))
      return [`${at}: a draft cannot add this; add it to the file of the gateway`];
    return namesIn(value).flatMap((name) => {
      if (!name.startsWith(sealedPrefix)) return variableIssue(name, { at, place, variables });
      const sealed = name.slice(sealedPrefix.length);
      if (!secretPlaces.test(place) || value !== `\${${name}}`)
        return [`${at}: a sealed value must be the whole of a secret`];
      if (!originOf.has(sealed) || originOf.get(sealed) === origin) return [];
      return [`${at}: this secret was written for ${originOf.get(sealed) ?? 'a notice'}: write it again`];
    });
  });
  return [...new Set(issues)];
}

function variableIssue(
  name: string,
  {
    at,
    place,
    variables,
  }: { readonly at: string; readonly place: string; readonly variables: ReadonlySet<string> },
): string[] {
  if (variables.has(name)) return [];
  if (environmentNames.includes(name)) return [`${at}: ${name} is a setting of the gateway itself`];
  return secretPlaces.test(place) ? [] : [`${at}: a draft names variables only where secrets belong`];
}

const secretPlaces =
  /^\/(?:channels\/[^/]+\/credentials\/[^/]+\/(?:api_key|callback_secret)|notify\/targets\/[^/]+\/(?:url|secret)|results\/s3\/(?:access_key_id|secret_access_key))$/;

/** What reaches into the machine: commands, and networks that the public cannot reach. */
const hostlyPlaces = /^\/(?:notify\/targets\/[^/]+\/command|channels\/[^/]+\/private_(?:link_)?networks)\//;

function isHostly({ place }: WrittenSecret): boolean {
  return hostlyPlaces.test(place);
}

function isWritten(value: string): boolean {
  return value !== '' && namesIn(value).length === 0;
}

function namesIn(text: string): readonly string[] {
  return [...text.matchAll(references)].map(([, name = '']) => name);
}

/** The sealed values that a text names. */
export function sealedNamesIn(text: string): readonly string[] {
  return namesIn(text).flatMap((name) =>
    name.startsWith(sealedPrefix) ? [name.slice(sealedPrefix.length)] : [],
  );
}

function lastName(place: string): string {
  return place.split('/').find((name) => /^(?:command|private_(?:link_)?networks)$/.test(name)) ?? '';
}

/** Every text of a file. */
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
        place: `${at.place}/${id ?? name}`,
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
