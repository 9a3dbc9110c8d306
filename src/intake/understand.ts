import { isRecord } from '../base/is-record.ts';
import { shortName, someNames, someNamesMax } from '../models/consumption.ts';
import { GatewayError, invalidParameter } from '../errors/errors.ts';
import { parseJsonText } from './json-scanner.ts';
import { carries, isSaid } from './carries.ts';
import { coerced, wildNumber, type Types } from './coerce.ts';
import { canonicalEndUser } from './end-user.ts';
import { readMedia, type MediaKind, type Medium } from './media.ts';
import type { MediaPlace, Names, Place } from './names.ts';
import { readMessages, readParts, type Parts } from './parts.ts';
import { hasFile, UploadedFile } from './uploaded-file.ts';
import { overruled, refuseUnread } from './warnings.ts';

export interface Understood {
  readonly body: Fields;
  readonly nameOf: (ours: string) => string;
  readonly unread: readonly string[];
  readonly strict: boolean;
}

export interface Interface {
  readonly names: Names;
  readonly types: Types;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the body of a create request by its API's field names. Rejects a field with media or a URL that nothing reads.
 * Errors use the field names that the caller sent.
 * @param fixed - Values that the URL or the interface determines, under our own field names. They override what was
 * sent.
 */
export function understand(fields: Fields, { names, types }: Interface, fixed: Fields = {}): Understood {
  const draft = new Draft(names, types);
  for (const [name, value] of inOrder(fields, names)) draft.take(name, value);
  return draft.finish(fixed);
}

/** Sorts our own names before aliases, so that our own names win. Drops empty fields that may be absent. */
function inOrder(fields: Fields, names: Names): readonly (readonly [string, unknown])[] {
  const rank = (name: string): number => (isOwn(name, names) ? 0 : 1);
  return Object.entries(fields)
    .filter(([name, value]) => isSaid(value) || (value === '' && neverEmpty.has(targetOf(name, names))))
    .toSorted(([one], [other]) => rank(one) - rank(other));
}

/** The fields in which an empty text is an error. In every other field, it counts as absent. */
const neverEmpty: ReadonlySet<string> = new Set(['model', 'prompt', 'metadata']);

/** Returns our own name of a field, or an empty string if it has none. */
function targetOf(name: string, { places, others, prefix }: Names): string {
  const place = places.get(name);
  if (place !== undefined) return 'to' in place ? place.to : '';
  return others === 'body' && name.startsWith(prefix) ? name.slice(prefix.length) : '';
}

function isOwn(name: string, { places, prefix }: Names): boolean {
  const place = places.get(name);
  const plain = name.slice(name.startsWith(prefix) ? prefix.length : 0);
  return (
    place !== undefined &&
    (('to' in place && place.to === plain) || ('media' in place && place.media === plain))
  );
}

const kindOf: Readonly<Record<MediaPlace, MediaKind>> = {
  images: 'image',
  image: 'image',
  mask: 'image',
  videos: 'video',
  audios: 'audio',
};
const placeOfKind = { image: 'images', video: 'videos', audio: 'audios' } as const;

class Draft {
  private readonly names: Names;
  private readonly types: Types;
  private readonly top: Record<string, unknown> = {};
  private metadata: Record<string, unknown> = {};
  private readonly media: Record<MediaPlace, Medium[]> = {
    images: [],
    image: [],
    mask: [],
    videos: [],
    audios: [],
  };
  private readonly sent = new Map<string, string>();
  private readonly unread: string[] = [];
  private readonly overruled: string[] = [];

  constructor(names: Names, types: Types) {
    this.names = names;
    this.types = types;
  }

  take(name: string, value: unknown): void {
    const wild = wildNumber(value, name);
    if (wild !== undefined)
      throw invalidParameter(wild, `The parameter ${wild} must be a number below 2^53.`);
    const place = this.names.places.get(name);
    if (place === undefined) this.takeOther(name, value);
    else if ('refused' in place) throw unsupported(name, `The parameter ${name} ${place.refused}.`);
    else if ('parts' in place) this.takeParts(readParts(value, name), name);
    else if ('messages' in place) this.takeParts(readMessages(value, name), name, 'image');
    else if ('media' in place) this.takeMedia(name, value, place);
    else this.set(place.to, value, name);
  }

  finish(fixed: Fields): Understood {
    this.placeMedia();
    for (const [name, value] of Object.entries(fixed)) {
      if (name === 'metadata') Object.assign(this.metadata, value);
      else if (value !== undefined) this.top[name] = value;
    }
    const strict = coerced(this.top['strict'], 'boolean') ?? false;
    delete this.top['strict'];
    if (typeof strict !== 'boolean')
      throw invalidParameter('strict', 'The parameter strict must be a boolean.');
    const unread = [...someNames(this.unread), ...this.overruled.slice(0, someNamesMax)];
    if (strict) refuseUnread(unread);
    nameEndUser(this.metadata, 'safety_identifier');
    nameEndUser(this.top, 'user');
    const metadata = Object.keys(this.metadata).length === 0 ? {} : { metadata: this.metadata };
    return {
      body: { ...metadata, ...this.top },
      nameOf: (ours) => this.nameOf(ours),
      unread,
      strict,
    };
  }

  private takeOther(name: string, value: unknown): void {
    const { others, prefix } = this.names;
    if (others === undefined || !name.startsWith(prefix)) return this.leave(name, value);
    if (hasFile(value)) throw nothingReads(name);
    const plain = name.slice(prefix.length);
    return this.set(others === 'metadata' ? `metadata.${plain}` : plain, value, name);
  }

  private leave(name: string, value: unknown): void {
    if (carries(name, value)) throw nothingReads(name);
    this.unread.push(name);
  }

  private takeMedia(name: string, value: unknown, { media, role }: Extract<Place, { media: unknown }>): void {
    // Some APIs request sound with `audio: true`, which is not a medium.
    if (typeof value === 'boolean' && media === 'audios') return this.leave(name, value);
    const field = { name, kind: kindOf[media], ...(role === undefined ? {} : { role }) };
    for (const medium of readMedia(value, field)) this.addMedium(medium, media);
    return undefined;
  }

  private takeParts({ text, media }: Parts, name: string, place?: 'image'): void {
    for (const medium of media) this.addMedium(medium, place ?? 'images');
    this.set('prompt', text, name);
  }

  private addMedium(medium: Medium, place: MediaPlace): void {
    const isOfImages = place === 'image' || place === 'mask';
    if (isOfImages && medium.kind !== 'image')
      throw unsupported(medium.name, `The parameter ${medium.name} must be an image.`);
    this.media[isOfImages ? place : placeOfKind[medium.kind]].push(medium);
  }

  private set(to: string, value: unknown, name: string): void {
    if (to === 'metadata') return this.setMetadata(value);
    const inner = to.startsWith('metadata.') ? to.slice('metadata.'.length) : undefined;
    const target = inner === undefined ? this.top : this.metadata;
    const key = inner ?? to;
    const typed = coerced(value, this.types.get(to));
    const other = this.sent.get(to) ?? (Object.hasOwn(target, key) ? to : undefined);
    if (other === undefined || !isSaid(target[key])) {
      this.sent.set(to, name);
      target[key] = typed;
      return undefined;
    }
    if (target[key] === typed) return undefined;
    // The top level overrides metadata. Within one level, the first name wins.
    const isFromMetadata = inner !== undefined && other === `${this.names.prefix}${to}`;
    const [loser, lost] = isFromMetadata ? [other, target[key]] : [name, typed];
    if (carries(loser, lost))
      throw invalidParameter(
        name,
        `The parameters ${name} and ${other} have different values. Send one of them.`,
      );
    this.overrule(loser, isFromMetadata ? name : other);
    if (!isFromMetadata) return undefined;
    this.sent.set(to, name);
    target[key] = typed;
    return undefined;
  }

  private overrule(loser: string, winner: string): void {
    this.overruled.push(overruled(shortName(loser), [shortName(winner)]));
  }

  private setMetadata(value: unknown): void {
    const parsed = typeof value === 'string' ? parseJsonText(value) : value;
    if (hasFile(parsed)) throw notAFile(parsed);
    if (!isRecord(parsed)) {
      this.top['metadata'] = value;
      return;
    }
    const { end_user_id: endUser, ...rest } = parsed;
    const named =
      endUser === undefined || isSaid(rest['safety_identifier']) ? {} : { safety_identifier: endUser };
    for (const [name, each] of Object.entries({ ...rest, ...named })) {
      // Keep `null`, because it may be a valid value of one of the model's own parameters.
      if (each === '') continue;
      const place = `metadata.${name}`;
      this.metadata[name] = coerced(each, this.types.get(place));
      this.sent.set(place, `${this.names.prefix}${place}`);
    }
  }

  private placeMedia(): void {
    const { images, videos, audios, image, mask } = this.media;
    const kept = this.withoutOverruled(images);
    const [single] = kept;
    const isSingle = kept.length === 1 && single?.role === undefined;
    if (isSingle && single?.name === 'image') this.top['image'] = single.value;
    else if (kept.length > 0) {
      const alone = isSingle ? this.names.alone : undefined;
      this.top['images'] = kept.map(({ value: url, role = alone }) =>
        role === undefined ? { url } : { url, role },
      );
      this.nameItems('images', kept);
    }
    this.placeList('videos', videos);
    this.placeList('audios', audios);
    this.placeList('image', image);
    this.placeList('mask', mask);
  }

  /** The contract gives `images` precedence over `image`. */
  private withoutOverruled(items: readonly Medium[]): readonly Medium[] {
    const overruled = items.filter(({ name, role }) => name === 'image' && role === undefined);
    if (overruled.length === 0 || !items.some(({ name }) => name.startsWith('images'))) return items;
    this.overrule('image', 'images');
    return items.filter((item) => !overruled.includes(item));
  }

  private placeList(place: Exclude<MediaPlace, 'images'>, items: readonly Medium[]): void {
    const [first] = items;
    if (first === undefined) return;
    const isOne = items.length === 1 && (place === 'image' || place === 'mask') && !first.name.endsWith(']');
    this.top[place] = isOne ? first.value : items.map(({ value }) => value);
    if (isOne) this.sent.set(place, first.name);
    else this.nameItems(place, items);
  }

  private nameItems(place: MediaPlace, items: readonly Medium[]): void {
    const [first] = items;
    if (first !== undefined) this.sent.set(place, first.name.replace(/\[.*$/, ''));
    items.forEach(({ name }, index) => this.sent.set(`${place}[${index}]`, name));
  }

  private nameOf(ours: string): string {
    const { places, prefix } = this.names;
    const whole = this.sent.get(ours);
    if (whole !== undefined) return whole;
    if (prefix !== '' && ours.startsWith(prefix)) return ours;
    const [, item = '', rest = ''] = /^([a-z]+\[\d+\]|metadata\.\w+)(.+)$/.exec(ours) ?? [];
    const named = this.sent.get(item);
    if (named !== undefined) return `${named}${rest.replace(/^\.url$/, '')}`;
    const unsent = [...places].find(([, place]) => 'to' in place && place.to === ours);
    const parts = [...places].find(([, place]) => 'parts' in place || 'messages' in place);
    if (ours === 'prompt' && parts !== undefined) return parts[0];
    return unsent?.[0] ?? (prefix === '' || ours === '' ? ours : `${prefix}${ours}`);
  }
}

function notAFile(metadata: unknown): GatewayError {
  const [field] = isRecord(metadata)
    ? (Object.entries(metadata).find(([, value]) => hasFile(value)) ?? [])
    : [];
  const param = field === undefined || metadata instanceof UploadedFile ? 'metadata' : `metadata[${field}]`;
  return invalidParameter(param, `The parameter ${param} must not be a file.`);
}

function nameEndUser(fields: Record<string, unknown>, name: string): void {
  const said = fields[name];
  if (typeof said === 'string') fields[name] = canonicalEndUser(said);
}

function nothingReads(name: string): GatewayError {
  return invalidParameter(
    name,
    `The parameter ${name} is not a known field, but it contains media, a URL or a destination. Send images in images, videos in videos, audio in audios, and the callback URL in metadata.callback_url.`,
  );
}

function unsupported(param: string, message: string): GatewayError {
  return new GatewayError('unsupported_parameter', message, { param });
}
