/** Parsed requests: the caller's input after the API's compatibility rules. */

/** Enough characters to recognise a task in a list. */
export const listedPromptCharactersMax = 300;

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

/** `auto`: the caller sent -1, so the model decides. */
export type Duration = number | 'auto';

export const imageRoles = ['first_frame', 'last_frame', 'reference'] as const;
export type ImageRole = (typeof imageRoles)[number];

/** A video's input media, by role (see media-roles.ts), as addresses or data URLs. */
export interface VideoMedia {
  /** A last frame requires a first frame. */
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
  /** `<width>x<height>`: as sent until the request is planned, and then the pixel size for its resolution and ratio. */
  readonly size?: string;
  /** Seconds. Undefined if neither the caller nor the model's entry specifies a duration. */
  readonly duration?: Duration;
  readonly draft?: boolean;
  readonly generateAudio?: boolean;
  readonly watermark?: boolean;
  readonly returnLastFrame?: boolean;
  readonly seed?: number;
  readonly safetyIdentifier?: string;
  readonly tools?: JsonValue;
  /** Metadata that the gateway does not use itself. It is passed to the upstream unchanged. */
  readonly extra: JsonObject;
}

export interface AskedImage {
  readonly url: string;
  /** Undefined if the model decides. */
  readonly role?: ImageRole;
}

/** A request whose images have no role yet, because roles depend on the model. */
/** Whether to refuse fields that would normally be ignored. */
interface Strict {
  readonly strict?: true;
}

export interface AskedVideo extends Strict, Omit<VideoRequest, 'firstFrame' | 'lastFrame' | 'references'> {
  readonly images: readonly AskedImage[];
  /**
   * Maps our field names to the caller's if they differ (`duration`: `seconds`), for errors and warnings. Contains
   * `input_type` if it was sent.
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
  /** Fields that the API does not define, such as quality, style, background and seed. */
  readonly extra: JsonObject;
}

export type GenerationRequest = VideoRequest | ImageRequest;

export interface AskedImages extends ImageRequest, Strict {
  /** The names of fields sent in `metadata`, for errors and warnings (`seed` is called `metadata.seed`). */
  readonly named?: Readonly<Record<string, string>>;
}

export type AskedRequest = AskedVideo | AskedImages;
