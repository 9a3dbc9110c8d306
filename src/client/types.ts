/** Written by `npm run document` from the OpenAPI document. */

export type VideoRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly mode?: string | null;
  readonly input_type?: 'text_to_video' | 'first_last_frame' | 'reference' | null;
  /** The same as images[0]. Ignored if images is present. */
  readonly image?: string | null;
  /** A single image without a role or an input_type is treated as a reference if the model accepts references, and otherwise as the first frame. */
  readonly images?:
    | readonly (
        | string
        | {
            readonly url: string;
            readonly role?: 'first_frame' | 'last_frame' | 'reference';
          }
      )[]
    | null;
  readonly videos?: readonly string[] | null;
  readonly audios?: readonly string[] | null;
  readonly resolution?: string | null;
  readonly ratio?: string | null;
  /** <width>x<height>, an alternative to `resolution` and `ratio`, which take precedence. If the model does not render this size, the error lists the sizes that it renders. */
  readonly size?: string | null;
  /** The duration in seconds: 5, "5" or "5s". -1 lets the model decide. */
  readonly duration?: number | string | null;
  /** The legacy name of `duration`. If both are present, `duration` applies. */
  readonly seconds?: number | string | null;
  /** Parameters that only some models support, as an object or its JSON string. Those listed here have the same meaning for every vendor. All others are passed upstream unchanged. `warnings` lists those that the model does not use. */
  readonly metadata?:
    | {
        readonly draft?: boolean;
        readonly generate_audio?: boolean;
        readonly watermark?: boolean;
        readonly return_last_frame?: boolean;
        readonly callback_url?: string;
        readonly seed?: number;
        readonly execution_expires_after?: number;
        readonly safety_identifier?: string;
        readonly tools?:
          | readonly unknown[]
          | {
              readonly [name: string]: unknown;
            };
        readonly mode?: string;
        readonly resolution?: string;
        readonly ratio?: string;
        readonly size?: string;
        readonly duration?: number | string;
        readonly seconds?: number | string;
        /** Content that the model should keep out of the output. */
        readonly negative_prompt?: string;
        /** How closely the model follows the prompt, on the model’s own scale. */
        readonly cfg_scale?: number;
        /** How the camera moves, in the model’s own terms. */
        readonly camera_control?:
          | string
          | {
              readonly [name: string]: unknown;
            };
        /** Frames per second. */
        readonly fps?: number;
        /** The amount of motion, on the model’s own scale. */
        readonly motion_strength?: number;
        /** How an input video is used, such as `reference`, `edit` or `extend`. Defaults to `reference` if the model accepts reference videos. */
        readonly video_task?: string;
        readonly [name: string]: unknown;
      }
    | string
    | null;
};

export type CreatedTask = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task' | 'image.generation.task';
  /** Always `submitted`: the gateway has accepted the task. GET and list return `pending` until an upstream has accepted it as well. */
  readonly status: 'submitted';
  readonly message: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** The ignored fields, each with the field that overrides it, if any. Also contains a sentence for each video whose length affects the price but could not be read. */
  readonly warnings?: readonly string[];
};

export type VideoTask = UnfinishedTask | SucceededVideo | FailedTask;

export type VideoTaskList = {
  readonly object: 'list';
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
  /** The first 300 characters of each prompt, by task id, as long as the request is kept. Present only with `include=prompts`. */
  readonly prompts?: {
    readonly [name: string]: unknown;
  };
  readonly data: readonly VideoTask[];
};

export type ImageGenerationRequest = {
  readonly aigc_watermark?: unknown;
  readonly aspect_ratio?: string | null;
  readonly background?: string | null;
  readonly cfg_scale?: unknown;
  readonly complexity?: unknown;
  readonly contentModeration?: unknown;
  readonly disable_prompt_enhanced?: unknown;
  readonly edit?: unknown;
  readonly element_list?: unknown;
  readonly grounding?: unknown;
  readonly guidance?: unknown;
  readonly guidance_scale?: number | null;
  readonly human_fidelity?: unknown;
  readonly image_fidelity?: unknown;
  readonly image_prompt_strength?: unknown;
  readonly image_reference?: unknown;
  readonly input_fidelity?: string | null;
  readonly moderation?: string | null;
  readonly negative_prompt?: string | null;
  readonly optimize_prompt?: unknown;
  readonly optimize_prompt_options?: unknown;
  readonly outputFormat?: unknown;
  readonly output_compression?: number | null;
  readonly output_format?: string | null;
  /** The number of partial images to send, if the upstream streams. Used only with `stream`. */
  readonly partial_images?: number | null;
  readonly prompt_extend?: unknown;
  readonly prompt_optimizer?: unknown;
  readonly prompt_upsampling?: unknown;
  readonly raw?: unknown;
  readonly safety_tolerance?: unknown;
  readonly seed?: number | null;
  readonly sequential_image_generation?: unknown;
  readonly steps?: unknown;
  readonly strength?: unknown;
  readonly style?: string | null;
  readonly style_preset?: unknown;
  readonly tools?: unknown;
  readonly user?: string | null;
  readonly version?: unknown;
  readonly watermark?: boolean | null;
  readonly web_search?: unknown;
  readonly model: string;
  readonly prompt: string;
  /** Reference images: URLs, data URLs (`data:image/<type>;base64,<data>`) or files. */
  readonly image?: string | readonly string[] | null;
  readonly mask?: string | null;
  readonly n?: number | null;
  /** `<width>x<height>`, or a name that the model lists. */
  readonly size?: string | null;
  readonly quality?: string | null;
  readonly response_format?: 'url' | 'b64_json' | null;
  /** If true, the response is a task for every model, as with the header `prefer: respond-async`. */
  readonly async?: boolean | null;
  /** If true, the response is a stream of events. The image is a task, as with `async`. If the stream breaks, fetch the image by the id in the header `x-mediary-image`. */
  readonly stream?: boolean | null;
  /** `callback_url` and `execution_expires_after` are used only for tasks. The other fields may also be sent at the top level, which takes precedence. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
        readonly style?: string;
        readonly background?: string;
        readonly moderation?: string;
        readonly output_format?: string;
        readonly output_compression?: number;
        readonly input_fidelity?: string;
        readonly negative_prompt?: string;
        readonly guidance_scale?: number;
        readonly seed?: number;
        readonly watermark?: boolean;
        readonly user?: string;
        readonly aspect_ratio?: string;
        readonly [name: string]: unknown;
      }
    | string
    | null;
};

export type ImageGenerationForm = {
  readonly aigc_watermark?: unknown;
  readonly aspect_ratio?: string;
  readonly background?: string;
  readonly cfg_scale?: unknown;
  readonly complexity?: unknown;
  readonly contentModeration?: unknown;
  readonly disable_prompt_enhanced?: unknown;
  readonly edit?: unknown;
  readonly element_list?: unknown;
  readonly grounding?: unknown;
  readonly guidance?: unknown;
  readonly guidance_scale?: number;
  readonly human_fidelity?: unknown;
  readonly image_fidelity?: unknown;
  readonly image_prompt_strength?: unknown;
  readonly image_reference?: unknown;
  readonly input_fidelity?: string;
  readonly moderation?: string;
  readonly negative_prompt?: string;
  readonly optimize_prompt?: unknown;
  readonly optimize_prompt_options?: unknown;
  readonly outputFormat?: unknown;
  readonly output_compression?: number;
  readonly output_format?: string;
  /** The number of partial images to send, if the upstream streams. Used only with `stream`. */
  readonly partial_images?: number;
  readonly prompt_extend?: unknown;
  readonly prompt_optimizer?: unknown;
  readonly prompt_upsampling?: unknown;
  readonly raw?: unknown;
  readonly safety_tolerance?: unknown;
  readonly seed?: number;
  readonly sequential_image_generation?: unknown;
  readonly steps?: unknown;
  readonly strength?: unknown;
  readonly style?: string;
  readonly style_preset?: unknown;
  readonly tools?: unknown;
  readonly user?: string;
  readonly version?: unknown;
  readonly watermark?: boolean;
  readonly web_search?: unknown;
  readonly model: string;
  readonly prompt: string;
  /** Reference images: URLs, data URLs (`data:image/<type>;base64,<data>`) or files. */
  readonly image?: string | Blob | readonly (string | Blob)[];
  readonly mask?: string | Blob;
  readonly n?: number;
  /** `<width>x<height>`, or a name that the model lists. */
  readonly size?: string;
  readonly quality?: string;
  readonly response_format?: 'url' | 'b64_json';
  /** If true, the response is a task for every model, as with the header `prefer: respond-async`. */
  readonly async?: boolean;
  /** If true, the response is a stream of events. The image is a task, as with `async`. If the stream breaks, fetch the image by the id in the header `x-mediary-image`. */
  readonly stream?: boolean;
  /** `callback_url` and `execution_expires_after` are used only for tasks. The other fields may also be sent at the top level, which takes precedence. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
        readonly style?: string;
        readonly background?: string;
        readonly moderation?: string;
        readonly output_format?: string;
        readonly output_compression?: number;
        readonly input_fidelity?: string;
        readonly negative_prompt?: string;
        readonly guidance_scale?: number;
        readonly seed?: number;
        readonly watermark?: boolean;
        readonly user?: string;
        readonly aspect_ratio?: string;
        readonly [name: string]: unknown;
      }
    | string;
};

export type ImageEditRequest = {
  readonly aigc_watermark?: unknown;
  readonly aspect_ratio?: string | null;
  readonly background?: string | null;
  readonly cfg_scale?: unknown;
  readonly complexity?: unknown;
  readonly contentModeration?: unknown;
  readonly disable_prompt_enhanced?: unknown;
  readonly edit?: unknown;
  readonly element_list?: unknown;
  readonly grounding?: unknown;
  readonly guidance?: unknown;
  readonly guidance_scale?: number | null;
  readonly human_fidelity?: unknown;
  readonly image_fidelity?: unknown;
  readonly image_prompt_strength?: unknown;
  readonly image_reference?: unknown;
  readonly input_fidelity?: string | null;
  readonly moderation?: string | null;
  readonly negative_prompt?: string | null;
  readonly optimize_prompt?: unknown;
  readonly optimize_prompt_options?: unknown;
  readonly outputFormat?: unknown;
  readonly output_compression?: number | null;
  readonly output_format?: string | null;
  /** The number of partial images to send, if the upstream streams. Used only with `stream`. */
  readonly partial_images?: number | null;
  readonly prompt_extend?: unknown;
  readonly prompt_optimizer?: unknown;
  readonly prompt_upsampling?: unknown;
  readonly raw?: unknown;
  readonly safety_tolerance?: unknown;
  readonly seed?: number | null;
  readonly sequential_image_generation?: unknown;
  readonly steps?: unknown;
  readonly strength?: unknown;
  readonly style?: string | null;
  readonly style_preset?: unknown;
  readonly tools?: unknown;
  readonly user?: string | null;
  readonly version?: unknown;
  readonly watermark?: boolean | null;
  readonly web_search?: unknown;
  readonly model: string;
  readonly prompt: string;
  /** Reference images: URLs, data URLs (`data:image/<type>;base64,<data>`) or files. */
  readonly image: string | readonly string[];
  readonly mask?: string | null;
  readonly n?: number | null;
  /** `<width>x<height>`, or a name that the model lists. */
  readonly size?: string | null;
  readonly quality?: string | null;
  readonly response_format?: 'url' | 'b64_json' | null;
  /** If true, the response is a task for every model, as with the header `prefer: respond-async`. */
  readonly async?: boolean | null;
  /** If true, the response is a stream of events. The image is a task, as with `async`. If the stream breaks, fetch the image by the id in the header `x-mediary-image`. */
  readonly stream?: boolean | null;
  /** `callback_url` and `execution_expires_after` are used only for tasks. The other fields may also be sent at the top level, which takes precedence. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
        readonly style?: string;
        readonly background?: string;
        readonly moderation?: string;
        readonly output_format?: string;
        readonly output_compression?: number;
        readonly input_fidelity?: string;
        readonly negative_prompt?: string;
        readonly guidance_scale?: number;
        readonly seed?: number;
        readonly watermark?: boolean;
        readonly user?: string;
        readonly aspect_ratio?: string;
        readonly [name: string]: unknown;
      }
    | string
    | null;
};

export type ImageEditForm = {
  readonly aigc_watermark?: unknown;
  readonly aspect_ratio?: string;
  readonly background?: string;
  readonly cfg_scale?: unknown;
  readonly complexity?: unknown;
  readonly contentModeration?: unknown;
  readonly disable_prompt_enhanced?: unknown;
  readonly edit?: unknown;
  readonly element_list?: unknown;
  readonly grounding?: unknown;
  readonly guidance?: unknown;
  readonly guidance_scale?: number;
  readonly human_fidelity?: unknown;
  readonly image_fidelity?: unknown;
  readonly image_prompt_strength?: unknown;
  readonly image_reference?: unknown;
  readonly input_fidelity?: string;
  readonly moderation?: string;
  readonly negative_prompt?: string;
  readonly optimize_prompt?: unknown;
  readonly optimize_prompt_options?: unknown;
  readonly outputFormat?: unknown;
  readonly output_compression?: number;
  readonly output_format?: string;
  /** The number of partial images to send, if the upstream streams. Used only with `stream`. */
  readonly partial_images?: number;
  readonly prompt_extend?: unknown;
  readonly prompt_optimizer?: unknown;
  readonly prompt_upsampling?: unknown;
  readonly raw?: unknown;
  readonly safety_tolerance?: unknown;
  readonly seed?: number;
  readonly sequential_image_generation?: unknown;
  readonly steps?: unknown;
  readonly strength?: unknown;
  readonly style?: string;
  readonly style_preset?: unknown;
  readonly tools?: unknown;
  readonly user?: string;
  readonly version?: unknown;
  readonly watermark?: boolean;
  readonly web_search?: unknown;
  readonly model: string;
  readonly prompt: string;
  /** Reference images: URLs, data URLs (`data:image/<type>;base64,<data>`) or files. */
  readonly image: string | Blob | readonly (string | Blob)[];
  readonly mask?: string | Blob;
  readonly n?: number;
  /** `<width>x<height>`, or a name that the model lists. */
  readonly size?: string;
  readonly quality?: string;
  readonly response_format?: 'url' | 'b64_json';
  /** If true, the response is a task for every model, as with the header `prefer: respond-async`. */
  readonly async?: boolean;
  /** If true, the response is a stream of events. The image is a task, as with `async`. If the stream breaks, fetch the image by the id in the header `x-mediary-image`. */
  readonly stream?: boolean;
  /** `callback_url` and `execution_expires_after` are used only for tasks. The other fields may also be sent at the top level, which takes precedence. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
        readonly style?: string;
        readonly background?: string;
        readonly moderation?: string;
        readonly output_format?: string;
        readonly output_compression?: number;
        readonly input_fidelity?: string;
        readonly negative_prompt?: string;
        readonly guidance_scale?: number;
        readonly seed?: number;
        readonly watermark?: boolean;
        readonly user?: string;
        readonly aspect_ratio?: string;
        readonly [name: string]: unknown;
      }
    | string;
};

export type Images = {
  /** Unix seconds. */
  readonly created: number;
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    /** Unix seconds. The link works until this time. */
    readonly expires_at?: number;
  }[];
  readonly usage: ImageUsage;
  readonly background?: string;
  readonly output_format?: string;
  readonly quality?: string;
  readonly size?: string;
  /** The names of ignored fields. */
  readonly warnings?: readonly string[];
};

export type ImageTask = UnfinishedTask | SucceededImage | FailedTask;

export type ImageTaskList = {
  readonly object: 'list';
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
  /** The first 300 characters of each prompt, by task id, as long as the request is kept. Present only with `include=prompts`. */
  readonly prompts?: {
    readonly [name: string]: unknown;
  };
  readonly data: readonly ImageTask[];
};

export type Estimate = {
  readonly object: 'video.generation.estimate' | 'image.generation.estimate';
  readonly model: string;
  readonly currency: string;
  /** The amount that a create request would hold: the worst case. */
  readonly hold: string;
  /** The lowest possible charge. Counts that are not known yet add nothing to it. */
  readonly at_least: string;
  /** The highest possible charge. */
  readonly at_most: string;
  /** The recent cost of similar requests: the median of the latest charges for this model at the same resolution, duration, size, quality and counts, recalculated at today's prices. Absent if fewer than 3 charges are known. */
  readonly expected?: string;
  /** How the hold is computed, using the same function as task creation. `usual` is the charge if the first channel renders the request with default settings. */
  readonly explanation: {
    readonly hold: Reckoning;
    readonly usual: Reckoning;
  };
  /** Seconds from acceptance to the end of the render. Present if render times are known. */
  readonly eta_seconds?: {
    /** Half of all similar tasks end within this time. */
    readonly p50: number;
    /** Nine out of ten similar tasks end within this time. */
    readonly p90: number;
  };
  /** The cap that a create request would exceed now. It would fail with 402 `spend_cap_exceeded`. */
  readonly refused_by?: {
    /** `model`: one of the key’s caps for a single model. */
    readonly scope: 'key' | 'model' | 'end_user';
    readonly window: 'day' | 'month' | 'total';
    readonly limit: string;
    /** Charges and open holds. */
    readonly used: string;
    readonly left: string;
    /** Unix seconds. The start of the next UTC day or month. Absent if the window never resets. */
    readonly resets_at?: number;
  };
  readonly warnings: readonly string[];
  /** Present with `x-explain-route: 1`. */
  readonly route?: {
    readonly candidates: readonly {
      readonly channel: string;
      readonly credential: string;
    }[];
    readonly dropped: readonly {
      readonly channel: string;
      /** Absent if all of the channel’s credentials were dropped. */
      readonly credential?: string;
      readonly reason: string;
      readonly detail: string;
    }[];
  };
};

export type File = {
  /** Requests refer to the file as `asset://<id>`, in any field that accepts media. */
  readonly id: string;
  readonly object: 'file';
  readonly bytes: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. The file is deleted at this time. */
  readonly expires_at: number;
  readonly filename: string;
  readonly purpose: string;
  /** The file’s properties, read from its bytes. A property is absent if it is unknown or does not apply to this kind of medium. */
  readonly media: {
    readonly type: string;
    /** Pixels. */
    readonly width?: number;
    readonly height?: number;
    readonly seconds?: number;
  };
};

export type FileList = {
  readonly object: 'list';
  readonly data: readonly File[];
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
};

export type Model = {
  readonly id: string;
  readonly object: 'model';
  readonly created: number;
  readonly owned_by: string;
  readonly kind: TaskKind;
  readonly capabilities: {
    readonly [name: string]: unknown;
  };
  /** The requests that each channel accepts. A request is rendered if it is within `capabilities` and fits one of these entries. Empty if this is unknown. */
  readonly facts: readonly ModelFacts[];
  readonly pricing: {
    readonly currency: string;
    /** The factor by which the account’s prices are multiplied: `1` unless the operator set another. */
    readonly factor: string;
    readonly minimum: string;
    /** The charge is the sum of the lines. For each measure, only the first line whose `when` matches applies. */
    readonly lines: readonly {
      readonly measure:
        | 'million_tokens'
        | 'million_text_tokens'
        | 'million_input_text_tokens'
        | 'million_input_image_tokens'
        | 'million_input_audio_tokens'
        | 'million_input_video_tokens'
        | 'million_cached_tokens'
        | 'second'
        | 'frame'
        | 'input_second'
        | 'image'
        | 'megapixel'
        | 'input_image'
        | 'reference_image'
        | 'call';
      readonly price: string;
      /** The free quantity. For megapixels, it applies per image. */
      readonly beyond: number;
      readonly when: {
        readonly [name: string]: unknown;
      };
    }[];
    /** Channels that have their own price instead of the model’s. */
    readonly channels: readonly {
      readonly channel: string;
      readonly minimum: string;
      /** The charge is the sum of the lines. For each measure, only the first line whose `when` matches applies. */
      readonly lines: readonly {
        readonly measure:
          | 'million_tokens'
          | 'million_text_tokens'
          | 'million_input_text_tokens'
          | 'million_input_image_tokens'
          | 'million_input_audio_tokens'
          | 'million_input_video_tokens'
          | 'million_cached_tokens'
          | 'second'
          | 'frame'
          | 'input_second'
          | 'image'
          | 'megapixel'
          | 'input_image'
          | 'reference_image'
          | 'call';
        readonly price: string;
        /** The free quantity. For megapixels, it applies per image. */
        readonly beyond: number;
        readonly when: {
          readonly [name: string]: unknown;
        };
      }[];
    }[];
  };
};

export type Balance = {
  readonly object: 'balance';
  readonly currency: string;
  readonly available: string;
  /** The amount held for unfinished tasks. */
  readonly held: string;
  /** The key’s caps for all models. See also `GET /v1/key`. */
  readonly caps: readonly Cap[];
};

export type Error = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    /** The field at fault, such as `metadata.seed`. Empty if no field is at fault. */
    readonly param: string;
    /** One of the codes that the guide “Errors” explains. */
    readonly code: string;
    readonly class?: FailureClass;
    /** The cap that the request would exceed. Present only if the code is `spend_cap_exceeded`. */
    readonly cap?: {
      /** `model`: one of the key’s caps for a single model. */
      readonly scope: 'key' | 'model' | 'end_user';
      readonly window: 'day' | 'month' | 'total';
      readonly limit: string;
      /** Charges and open holds. */
      readonly used: string;
      readonly left: string;
      /** Unix seconds. The start of the next UTC day or month. Absent if the window never resets. */
      readonly resets_at?: number;
    };
  };
};

export type UnfinishedTask = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task' | 'image.generation.task';
  readonly status: 'pending' | 'submitted' | 'running';
  readonly message: string;
  /** The upstream's trace id. Empty until the upstream reports one. */
  readonly trace_id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** 0-100, if the upstream reports progress. */
  readonly progress?: number;
  /** Present for an unfinished task if render times are known. */
  readonly eta_seconds?: {
    /** Half of all similar tasks end within this time. */
    readonly p50: number;
    /** Nine out of ten similar tasks end within this time. */
    readonly p90: number;
  };
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    readonly last_frame_url?: string;
    /** Unix seconds. The link works until this time. */
    readonly expires_at?: number;
  }[];
  /** The video’s resolution: the rendered one if known, otherwise the requested one. Absent while the model may still choose the resolution or the ratio. */
  readonly resolution?: string;
  /** The video’s aspect ratio, under the same rules as `resolution`. */
  readonly ratio?: string;
  /** The video’s size, `<width>x<height>`, under the same rules as `resolution`. */
  readonly size?: string;
  /** The expected charge of an unfinished task. The hold may be higher. */
  readonly estimate?: string;
};

export type SucceededVideo = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task';
  readonly status: 'succeeded';
  readonly message: string;
  /** The upstream's trace id. Empty until the upstream reports one. */
  readonly trace_id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** Unix seconds. */
  readonly completed_at: number;
  readonly progress: 100;
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    readonly last_frame_url?: string;
    /** Unix seconds. The link works until this time. */
    readonly expires_at?: number;
  }[];
  readonly video_url: string;
  /** The length in seconds, as reported by the upstream or, if it reports none, as charged. 0 if unknown. */
  readonly duration: number;
  /** The video’s resolution: the rendered one if known, otherwise the requested one. Absent while the model may still choose the resolution or the ratio. */
  readonly resolution?: string;
  /** The video’s aspect ratio, under the same rules as `resolution`. */
  readonly ratio?: string;
  /** The video’s size, `<width>x<height>`, under the same rules as `resolution`. */
  readonly size?: string;
  /** As reported by the upstream. 0 if the upstream does not count tokens. */
  readonly usage: {
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  /** The charge for a task that succeeded. */
  readonly charge: string;
};

export type FailedTask = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task' | 'image.generation.task';
  readonly status: 'failed';
  readonly message: string;
  /** The upstream's trace id. Empty until the upstream reports one. */
  readonly trace_id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** Unix seconds. */
  readonly completed_at: number;
  /** 0-100, if the upstream reports progress. */
  readonly progress?: number;
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    readonly last_frame_url?: string;
    /** Unix seconds. The link works until this time. */
    readonly expires_at?: number;
  }[];
  readonly error: {
    readonly message: string;
    readonly code: TaskErrorCode;
    readonly class?: FailureClass;
    /** The field that the upstream named, if any. Set only if the class is `invalid_input`. */
    readonly field?: string;
    /** The kind of input that was rejected, if the upstream reports it. Set only if the class is `moderation_input`. */
    readonly input?: 'prompt' | 'image' | 'video' | 'audio';
  };
};

/** Token counts, or 0 if the upstream reports none. Any other counts are passed through from the upstream. */
export type ImageUsage = {
  readonly input_tokens: number;
  readonly input_tokens_details: {
    readonly image_tokens: number;
    readonly text_tokens: number;
  };
  readonly output_tokens: number;
  readonly output_tokens_details: {
    readonly image_tokens: number;
    readonly text_tokens: number;
  };
  readonly total_tokens: number;
  readonly [name: string]: unknown;
};

export type SucceededImage = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'image.generation.task';
  readonly status: 'succeeded';
  readonly message: string;
  /** The upstream's trace id. Empty until the upstream reports one. */
  readonly trace_id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** Unix seconds. */
  readonly completed_at: number;
  readonly progress: 100;
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    readonly last_frame_url?: string;
    /** Unix seconds. The link works until this time. */
    readonly expires_at?: number;
  }[];
  /** As reported by the upstream. 0 if the upstream does not count tokens. */
  readonly usage: {
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  /** The charge for a task that succeeded. */
  readonly charge: string;
};

export type Reckoning = {
  readonly amount: string;
  readonly channel: string;
  /** Whether the price belongs to the model or to the channel. */
  readonly rules_of: 'model' | 'channel';
  /** The facts that the price lines can test, with their sources. `default`: the default of the model. `open`: the request leaves the fact open, so the most expensive value is assumed. `upstream`: reported by the upstream. `measured`: read from the stored result. `duration` is in seconds. */
  readonly facts: readonly {
    readonly name: string;
    readonly value: string | number | boolean | null;
    readonly source: 'request' | 'default' | 'open' | 'upstream' | 'measured';
  }[];
  /** The length of the output. */
  readonly seconds?: number;
  /** The measured length of the input videos. Absent if no price depends on it or if it is unknown. If the length is unknown, the maximum is held, and nothing is charged for it. */
  readonly input_seconds?: number;
  /** For each measure, the first line whose `when` matches, multiplied by the quantity. The sum of these lines is the first step. Empty if nothing could be priced. */
  readonly lines: readonly {
    /** Index into the price lines. */
    readonly index: number;
    readonly measure:
      | 'million_tokens'
      | 'million_text_tokens'
      | 'million_input_text_tokens'
      | 'million_input_image_tokens'
      | 'million_input_audio_tokens'
      | 'million_input_video_tokens'
      | 'million_cached_tokens'
      | 'second'
      | 'frame'
      | 'input_second'
      | 'image'
      | 'megapixel'
      | 'input_image'
      | 'reference_image'
      | 'call';
    /** The price per unit of the measure. */
    readonly price: string;
    readonly when: {
      readonly [name: string]: unknown;
    };
    /** The quantity in units of the measure, as a decimal string. */
    readonly quantity: string;
    /** The free part of the quantity. */
    readonly free?: string;
    /** `request`: counted in the request. `default`, `open`: same meaning as in `facts`. `formula`: calculated from the resolution, ratio and length of an output. `measured`: measured from the result file or an input video. `upstream`: reported by the upstream. `assumed`: the count is unknown, so the highest possible count is held, and nothing is charged for it. */
    readonly source: 'request' | 'default' | 'open' | 'formula' | 'measured' | 'upstream' | 'assumed';
    /** The facts about this group of images. Absent if all images are alike. */
    readonly of?: {
      readonly [name: string]: unknown;
    };
    readonly text: string;
    /** The unrounded amount. Only the sum is rounded. */
    readonly amount: string;
  }[];
  /** Each step starts from the previous step’s amount. */
  readonly steps: readonly {
    readonly kind: 'sum' | 'minimum' | 'factor' | 'multiplier' | 'held' | 'least' | 'share' | 'limit';
    readonly text: string;
    /** The amount after this step. */
    readonly amount: string;
  }[];
};

export type TaskKind = 'video' | 'image';

/** The inputs that one channel accepts besides a prompt, and the outputs that it renders. If a fact is absent, it is unknown to the gateway, and the upstream decides. Fields that are not true in `fields` are not sent, but are listed in `warnings`. `parameters` lists names that may be sent, in `metadata` or in the body of an image request. A parameter whose `values` are empty cannot be sent. `cases` override the other facts, in order, wherever their condition is met. */
export type ModelFacts = {
  readonly prompt?: {
    /** The maximum number of characters in a prompt */
    readonly characters?: number;
    /** The media with which the prompt may be empty. If unset, the prompt may always be empty. If the list is empty, it never may */
    readonly wordless?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
  };
  /** Whether unlisted names in metadata are sent. If unset, they are not sent, and `warnings` lists them */
  readonly other_parameters?: boolean;
  readonly media?: {
    /** 1 means a first frame. 2 means a first and a last frame */
    readonly frames?: number;
    /** The maximum number of reference images in a request */
    readonly references?: number;
    /** The maximum number of input videos in a request */
    readonly videos?: number;
    /** The maximum number of input audio files in a request */
    readonly audios?: number;
    /** The maximum total number of references, videos and audio files in a request */
    readonly total?: number;
    /** The media that can be combined with frames */
    readonly beside_frames?: readonly ('references' | 'videos' | 'audios')[];
    /** The media of which a request must contain at least one */
    readonly needs?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
    /** Media that are accepted only in addition to an image or a video */
    readonly accompanied?: readonly ('references' | 'videos' | 'audios')[];
  };
  /** The resolutions that the model renders */
  readonly resolutions?: readonly string[];
  /** The ratios that the model supports, including `adaptive` */
  readonly ratios?: readonly string[];
  /** The pixels of a video by its resolution and ratio. If unset, they are unknown */
  readonly shapes?: {
    readonly [name: string]: unknown;
  };
  readonly seconds?: {
    /** The only accepted lengths, in seconds. If the list is empty, a request cannot choose the length */
    readonly only?: readonly number[];
    /** The shortest length, in seconds */
    readonly min?: number;
    /** The longest length, in seconds */
    readonly max?: number;
    /** Lengths are multiples of this number of seconds (default: 1) */
    readonly step?: number;
    /** Whether a length of -1 lets the model choose */
    readonly auto?: boolean;
  };
  /** Whether videos have sound. With fixed, a request cannot choose, and it is not known in advance whether the video has sound */
  readonly sound?: 'choice' | 'always' | 'never' | 'fixed';
  readonly seed?: {
    /** The smallest seed */
    readonly min: number;
    /** The largest seed */
    readonly max: number;
  };
  readonly images?: {
    /** The only numbers of images that a request can ask for */
    readonly only?: readonly number[];
    /** The maximum number of images that a request can ask for */
    readonly max?: number;
  };
  readonly references?: {
    /** The minimum number of the caller’s images in a request */
    readonly min?: number;
    /** The maximum number of the caller’s images in a request */
    readonly max?: number;
    /** Whether a mask can mark the part of an image to replace */
    readonly mask?: boolean;
  };
  readonly sizes?: {
    /** The only accepted sizes, exactly as a request writes them, such as auto, 16:9 and 1024x1024 */
    readonly only?: readonly string[];
    readonly pixels?: {
      /** Each side must be a multiple of this number of pixels */
      readonly step?: number;
      /** The minimum number of pixels per side */
      readonly side_min?: number;
      /** The maximum number of pixels per side */
      readonly side_max?: number;
      /** The minimum number of pixels in the whole image */
      readonly min?: number;
      /** The maximum number of pixels in the whole image */
      readonly max?: number;
      /** The maximum ratio of the longer side to the shorter one */
      readonly longest?: number;
    };
    /** The number of pixels of an image, by class name. The name can also be used as a size */
    readonly classes?: {
      readonly [name: string]: unknown;
    };
    /** The approximate number of pixels of every image, if there are no classes */
    readonly about?: number;
    /** The ratios in which images of a class, or with about this many pixels, are rendered */
    readonly ratios?: readonly string[];
    /** Whether a size in pixels belongs to the smallest class with at least that many pixels. If false, a size belongs to a class with about the same number of pixels */
    readonly rounded_up?: boolean;
    /** How far a size in pixels may deviate from a ratio, as a fraction of the ratio (default: 0.02) */
    readonly tolerance?: number;
  };
  /** The qualities that a request can choose. If the list is empty, a request cannot choose a quality */
  readonly qualities?: readonly string[];
  readonly fields?: {
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly mode?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly resolution?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly ratio?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly duration?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly draft?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly generate_audio?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly watermark?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly return_last_frame?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly seed?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly safety_identifier?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly tools?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly size?: boolean;
    /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
    readonly quality?: boolean;
  };
  readonly parameters?: {
    readonly [name: string]: unknown;
  };
  readonly cases?: readonly {
    readonly when?: {
      /** The request has one of these media */
      readonly brings?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
      /** The request has none of these media */
      readonly lacks?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
      /** The requested resolution is one of these */
      readonly resolution?: readonly string[];
      /** The requested ratio is one of these */
      readonly ratio?: readonly string[];
      /** The requested length, in seconds, is one of these */
      readonly duration?: readonly number[];
      /** Whether the request asks for a draft */
      readonly draft?: boolean;
      /** The request’s metadata has these values. The value any matches every value */
      readonly metadata?: {
        readonly [name: string]: unknown;
      };
    };
    readonly facts: {
      readonly prompt?: {
        /** The maximum number of characters in a prompt */
        readonly characters?: number;
        /** The media with which the prompt may be empty. If unset, the prompt may always be empty. If the list is empty, it never may */
        readonly wordless?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
      };
      /** Whether unlisted names in metadata are sent. If unset, they are not sent, and `warnings` lists them */
      readonly other_parameters?: boolean;
      readonly media?: {
        /** 1 means a first frame. 2 means a first and a last frame */
        readonly frames?: number;
        /** The maximum number of reference images in a request */
        readonly references?: number;
        /** The maximum number of input videos in a request */
        readonly videos?: number;
        /** The maximum number of input audio files in a request */
        readonly audios?: number;
        /** The maximum total number of references, videos and audio files in a request */
        readonly total?: number;
        /** The media that can be combined with frames */
        readonly beside_frames?: readonly ('references' | 'videos' | 'audios')[];
        /** The media of which a request must contain at least one */
        readonly needs?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
        /** Media that are accepted only in addition to an image or a video */
        readonly accompanied?: readonly ('references' | 'videos' | 'audios')[];
      };
      /** The resolutions that the model renders */
      readonly resolutions?: readonly string[];
      /** The ratios that the model supports, including `adaptive` */
      readonly ratios?: readonly string[];
      /** The pixels of a video by its resolution and ratio. If unset, they are unknown */
      readonly shapes?: {
        readonly [name: string]: unknown;
      };
      readonly seconds?: {
        /** The only accepted lengths, in seconds. If the list is empty, a request cannot choose the length */
        readonly only?: readonly number[];
        /** The shortest length, in seconds */
        readonly min?: number;
        /** The longest length, in seconds */
        readonly max?: number;
        /** Lengths are multiples of this number of seconds (default: 1) */
        readonly step?: number;
        /** Whether a length of -1 lets the model choose */
        readonly auto?: boolean;
      };
      /** Whether videos have sound. With fixed, a request cannot choose, and it is not known in advance whether the video has sound */
      readonly sound?: 'choice' | 'always' | 'never' | 'fixed';
      readonly seed?: {
        /** The smallest seed */
        readonly min: number;
        /** The largest seed */
        readonly max: number;
      };
      readonly images?: {
        /** The only numbers of images that a request can ask for */
        readonly only?: readonly number[];
        /** The maximum number of images that a request can ask for */
        readonly max?: number;
      };
      readonly references?: {
        /** The minimum number of the caller’s images in a request */
        readonly min?: number;
        /** The maximum number of the caller’s images in a request */
        readonly max?: number;
        /** Whether a mask can mark the part of an image to replace */
        readonly mask?: boolean;
      };
      readonly sizes?: {
        /** The only accepted sizes, exactly as a request writes them, such as auto, 16:9 and 1024x1024 */
        readonly only?: readonly string[];
        readonly pixels?: {
          /** Each side must be a multiple of this number of pixels */
          readonly step?: number;
          /** The minimum number of pixels per side */
          readonly side_min?: number;
          /** The maximum number of pixels per side */
          readonly side_max?: number;
          /** The minimum number of pixels in the whole image */
          readonly min?: number;
          /** The maximum number of pixels in the whole image */
          readonly max?: number;
          /** The maximum ratio of the longer side to the shorter one */
          readonly longest?: number;
        };
        /** The number of pixels of an image, by class name. The name can also be used as a size */
        readonly classes?: {
          readonly [name: string]: unknown;
        };
        /** The approximate number of pixels of every image, if there are no classes */
        readonly about?: number;
        /** The ratios in which images of a class, or with about this many pixels, are rendered */
        readonly ratios?: readonly string[];
        /** Whether a size in pixels belongs to the smallest class with at least that many pixels. If false, a size belongs to a class with about the same number of pixels */
        readonly rounded_up?: boolean;
        /** How far a size in pixels may deviate from a ratio, as a fraction of the ratio (default: 0.02) */
        readonly tolerance?: number;
      };
      /** The qualities that a request can choose. If the list is empty, a request cannot choose a quality */
      readonly qualities?: readonly string[];
      readonly fields?: {
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly mode?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly resolution?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly ratio?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly duration?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly draft?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly generate_audio?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly watermark?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly return_last_frame?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly seed?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly safety_identifier?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly tools?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly size?: boolean;
        /** Whether requests can set the field. If so, it is either sent to the upstream or applied in some other way */
        readonly quality?: boolean;
      };
      readonly parameters?: {
        readonly [name: string]: unknown;
      };
    };
  }[];
};

export type Cap = {
  /** `model`: one of the key’s caps for a single model. */
  readonly scope: 'key' | 'model' | 'end_user';
  readonly window: 'day' | 'month' | 'total';
  readonly limit: string;
  /** Charges and open holds. */
  readonly used: string;
  readonly left: string;
  /** Unix seconds. The start of the next UTC day or month. Absent if the window never resets. */
  readonly resets_at?: number;
};

/** The class of the upstream failure. The guide “Errors” explains each class. */
export type FailureClass =
  | 'moderation_input'
  | 'moderation_output'
  | 'invalid_input'
  | 'quota'
  | 'capacity'
  | 'expired'
  | 'cancelled'
  | 'internal';

export type TaskErrorCode = 'provider_error' | 'task_expired' | 'task_cancelled' | 'internal_error';
