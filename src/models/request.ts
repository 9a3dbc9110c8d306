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

/** `auto` (-1 in the API) lets the model decide. */
export type Duration = number | 'auto';

export const imageRoles = ['first_frame', 'last_frame', 'reference'] as const;
export type ImageRole = (typeof imageRoles)[number];

export interface VideoMedia {
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
  /**
   * `<width>x<height>`. Before planning, this is the caller's size. Afterwards, it is the pixel size for the resolution
   * and ratio.
   */
  readonly size?: string;
  readonly duration?: Duration;
  readonly draft?: boolean;
  readonly generateAudio?: boolean;
  readonly watermark?: boolean;
  readonly returnLastFrame?: boolean;
  readonly seed?: number;
  readonly safetyIdentifier?: string;
  readonly tools?: JsonValue;
  readonly extra: JsonObject;
}

export interface AskedImage {
  readonly url: string;
  readonly role?: ImageRole;
}

interface Strict {
  readonly strict?: true;
}

/** The request as received. Its images have no roles yet, because roles depend on the model. */
export interface AskedVideo extends Strict, Omit<VideoRequest, 'firstFrame' | 'lastFrame' | 'references'> {
  readonly images: readonly AskedImage[];
  /**
   * Names that the caller used, if they differ from ours (`duration`: `seconds`). Errors and warnings use them.
   * Includes `input_type` if the caller sent it.
   */
  readonly named: Readonly<Record<string, string>>;
}

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
  /** Fields that are not part of our API, such as quality, style, background and seed. */
  readonly extra: JsonObject;
}

export type GenerationRequest = VideoRequest | ImageRequest;

export interface AskedImages extends ImageRequest, Strict {
  readonly named?: Readonly<Record<string, string>>;
}

export type AskedRequest = AskedVideo | AskedImages;
