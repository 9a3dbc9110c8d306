import { invalidParameter, type GatewayError } from '../errors/errors.ts';
import type { ImageRole } from '../models/request.ts';
import { fileIdOf } from '../models/user-file.ts';
import { isSaid, mediaTypeOfBase64 } from './carries.ts';
import { UploadedFile } from './uploaded-file.ts';

export type MediaKind = 'image' | 'video' | 'audio';

export interface Medium {
  readonly value: string | UploadedFile;
  readonly kind: MediaKind;
  readonly role?: ImageRole;
  readonly name: string;
}

export interface MediaField {
  readonly name: string;
  readonly kind: MediaKind;
  readonly role?: ImageRole;
}

/**
 * Accepts a URL, a data URL, base64, a file, `{url}`, `{image_url}`, `{image_url: {url}}` or `{file_id}`, each with an
 * optional role, and lists of these.
 */
export function readMedia(value: unknown, field: MediaField): readonly Medium[] {
  const { name } = field;
  if (Array.isArray(value))
    return value.flatMap((item: unknown, index) => readOne(item, { ...field, name: `${name}[${index}]` }));
  return readOne(value, field);
}

function readOne(value: unknown, field: MediaField): readonly Medium[] {
  if (value instanceof UploadedFile) return [{ ...field, value }];
  if (typeof value === 'string') return [{ ...field, value: withType(value) }];
  if (typeof value !== 'object' || value === null) throw noMedia(field);
  return readItem(Object.entries(value), field);
}

const kindOfKey: Readonly<Record<string, MediaKind | undefined>> = {
  url: undefined,
  uri: undefined,
  b64_json: undefined,
  base64: undefined,
  file_id: undefined,
  image: 'image',
  image_url: 'image',
  video: 'video',
  video_url: 'video',
  audio: 'audio',
  audio_url: 'audio',
};
const aboutItem: ReadonlySet<string> = new Set(['type', 'role', 'frame_type', 'detail', 'name', 'mime_type']);

type Entries = readonly (readonly [name: string, value: unknown])[];

function readItem(entries: Entries, field: MediaField): readonly Medium[] {
  const { name } = field;
  const said = entries.filter(([, value]) => isSaid(value));
  const unknown = said.find(([key]) => !Object.hasOwn(kindOfKey, key) && !aboutItem.has(key));
  if (unknown !== undefined) throw invalidParameter(name, `${name}.${unknown[0]} is not a field of ${name}.`);
  const [medium, second] = said.filter(([key]) => Object.hasOwn(kindOfKey, key));
  if (medium === undefined || second !== undefined) throw noMedia(field);
  const about = Object.fromEntries(said);
  const role = roleOf(about['role'] ?? about['frame_type'], name) ?? field.role;
  const [key, value] = medium;
  const kind = kindOfKey[key] ?? field.kind;
  const inner = { name, kind, ...(role === undefined ? {} : { role }) };
  if (key === 'file_id') return [{ ...inner, value: ownFile(value, name) }];
  return readMedia(value, inner);
}

function ownFile(id: unknown, name: string): string {
  const url = `asset://${String(id)}`;
  if (fileIdOf(url) !== undefined) return url;
  throw invalidParameter(
    name,
    `The parameter ${name} must be the id of a file stored with \`POST /v1/files\`.`,
  );
}

const roles: Readonly<Record<string, ImageRole | 'none'>> = {
  first_frame: 'first_frame',
  last_frame: 'last_frame',
  reference: 'reference',
  reference_image: 'reference',
  reference_video: 'none',
  reference_audio: 'none',
};

function roleOf(role: unknown, name: string): ImageRole | undefined {
  if (role === undefined) return undefined;
  const known = typeof role === 'string' && Object.hasOwn(roles, role) ? roles[role] : undefined;
  if (known !== undefined) return known === 'none' ? undefined : known;
  throw invalidParameter(
    name,
    `The parameter ${name} must have one of the roles first_frame, last_frame, reference.`,
  );
}

function withType(text: string): string {
  const type = mediaTypeOfBase64(text);
  return type === undefined ? text : `data:${type};base64,${text}`;
}

function noMedia({ name, kind }: MediaField): GatewayError {
  return invalidParameter(
    name,
    `The parameter ${name} must be a URL, a data URL, a file, {"url"}, {"${kind}_url"}, {"file_id"}, or a list of these.`,
  );
}
