/** Parsed requests: what a caller asked for, after the compatibility rules of the contract are applied. */

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | JsonValue[]
  | { readonly [key: string]: JsonValue };
export type JsonObject = { readonly [key: string]: JsonValue };

export const inputTypes = ['text_to_video', 'first_last_frame', 'reference'] as const;
export type InputType = (typeof inputTypes)[number];

/** `auto`: the caller sent -1, the model decides. */
export type Duration = number | 'auto';

export const imageRoles = ['first_frame', 'last_frame', 'reference'] as const;
export type ImageRole = (typeof imageRoles)[number];

/** What a video is made from, each item in its part; see media-roles.ts. Addresses or data URLs. */
export interface VideoMedia {
  /** There is a last frame only beside it. */
  readonly firstFrame?: string;
  readonly lastFrame?: string;
  readonly references: readonly string[];
  readonly videos: readonly string[];
  readonly audios: readonly string[];
}

export interface VideoRequest extends VideoMedia {
  readonly kind: 'video';
  readonly model: string;
  readonly prompt: string;
  readonly mode?: string;
  readonly resolution?: string;
  readonly ratio?: string;
  /** `<width>x<height>`: as sent until the request is planned, then the pixels of its resolution and ratio. */
  readonly size?: string;
  /** Seconds. Absent: neither the caller nor the model's entry names one. */
  readonly duration?: Duration;
  readonly draft?: boolean;
  readonly generateAudio?: boolean;
  readonly watermark?: boolean;
  readonly returnLastFrame?: boolean;
  readonly seed?: number;
  readonly safetyIdentifier?: string;
  readonly tools?: JsonValue;
  /** metadata that the gateway does not consume: passed to the upstream unchanged. */
  readonly extra: JsonObject;
}

export interface AskedImage {
  readonly url: string;
  /** Absent: the caller leaves it to the model. */
  readonly role?: ImageRole;
}

/** A request whose images have no parts yet, because the model decides them. */
/** Whether fields that would be ignored are refused. */
interface Strict {
  readonly strict?: true;
}

export interface AskedVideo extends Strict, Omit<VideoRequest, 'firstFrame' | 'lastFrame' | 'references'> {
  readonly images: readonly AskedImage[];
  /**
   * What the caller wrote where it is another name (`duration`: `seconds`), and `input_type` if it was sent: errors
   * and warnings name these.
   */
  readonly named: Readonly<Record<string, string>>;
}

/** A reference image as received. */
export type ImageInput =
  | { readonly form: 'url'; readonly url: string }
  | { readonly form: 'data'; readonly mediaType: string; readonly base64: string }
  | {
      readonly form: 'file';
      readonly mediaType: string;
      readonly path: string;
      readonly name: string;
      readonly bytes: number;
    };

export interface ImageRequest {
  readonly kind: 'image';
  readonly operation: 'generate' | 'edit';
  readonly model: string;
  readonly prompt: string;
  readonly n: number;
  readonly size?: string;
  readonly quality?: string;
  readonly responseFormat?: 'url' | 'b64_json';
  readonly images: readonly ImageInput[];
  readonly mask?: ImageInput;
  /** Fields beyond the contract's table: quality, style, background, seed, … */
  readonly extra: JsonObject;
}

export type GenerationRequest = VideoRequest | ImageRequest;

export interface AskedImages extends ImageRequest, Strict {
  /** What stands in `metadata` (`seed`: `metadata.seed`): errors and warnings name these. */
  readonly named?: Readonly<Record<string, string>>;
}

export type AskedRequest = AskedVideo | AskedImages;
