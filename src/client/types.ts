/** Written by `npm run client-types` from the OpenAPI document. */

export type VideoRequest = {
  readonly model: string;
  readonly prompt: string;
  readonly mode?: string | null;
  readonly input_type?: 'text_to_video' | 'first_last_frame' | 'reference' | null;
  /** Same as images[0]; ignored if images is present. */
  readonly image?: string | null;
  /** A single image without a role or an input_type is a reference where the model takes references, and its first frame where it takes none. */
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
  /** <width>x<height>, instead of `resolution` and `ratio`, which overrule it. If the model does not render this size, the error lists those it does. */
  readonly size?: string | null;
  /** Seconds: 5, "5" or "5s"; -1 lets the model decide. */
  readonly duration?: number | string | null;
  /** Legacy name of duration, which wins if both are present. */
  readonly seconds?: number | string | null;
  /** Parameters that not every model has: an object, or a string that holds it as JSON. Those that are listed here mean the same at every vendor; others are passed upstream unchanged. `warnings` names what a model does not use. */
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
        /** What should not be seen. */
        readonly negative_prompt?: string;
        /** How closely the prompt is followed, on the scale of the model. */
        readonly cfg_scale?: number;
        /** How the camera moves, in the words of the model. */
        readonly camera_control?:
          | string
          | {
              readonly [name: string]: unknown;
            };
        /** Frames per second. */
        readonly fps?: number;
        /** How much moves, on the scale of the model. */
        readonly motion_strength?: number;
        /** What is made of a video, in words such as `reference`, `edit`, `extend`. Absent: a reference where the model takes reference videos. */
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
  /** Always `submitted`: the gateway has accepted the task. GET and list answer `pending` until an upstream has accepted it, too. */
  readonly status: 'submitted';
  readonly message: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Fields that were ignored, each with the field that overruled it, if any. Also a sentence for each video whose price depends on a length that could not be read. */
  readonly warnings?: readonly string[];
};

export type VideoTask = UnfinishedTask | SucceededVideo | FailedTask;

export type VideoTaskList = {
  readonly object: 'list';
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
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
  /** With `stream`: how many unfinished images are sent, where the upstream streams. */
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
  /** true: answers with a task on any model, as the header `prefer: respond-async` does. */
  readonly async?: boolean | null;
  /** true: the answer is a stream of events. Its image is a task, as with `async`, named by the header `x-mediary-image`: whoever loses the stream asks for it there. */
  readonly stream?: boolean | null;
  /** For tasks: `callback_url`, `execution_expires_after`. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
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
  /** With `stream`: how many unfinished images are sent, where the upstream streams. */
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
  /** true: answers with a task on any model, as the header `prefer: respond-async` does. */
  readonly async?: boolean;
  /** true: the answer is a stream of events. Its image is a task, as with `async`, named by the header `x-mediary-image`: whoever loses the stream asks for it there. */
  readonly stream?: boolean;
  /** For tasks: `callback_url`, `execution_expires_after`. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
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
  /** With `stream`: how many unfinished images are sent, where the upstream streams. */
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
  /** true: answers with a task on any model, as the header `prefer: respond-async` does. */
  readonly async?: boolean | null;
  /** true: the answer is a stream of events. Its image is a task, as with `async`, named by the header `x-mediary-image`: whoever loses the stream asks for it there. */
  readonly stream?: boolean | null;
  /** For tasks: `callback_url`, `execution_expires_after`. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
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
  /** With `stream`: how many unfinished images are sent, where the upstream streams. */
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
  /** true: answers with a task on any model, as the header `prefer: respond-async` does. */
  readonly async?: boolean;
  /** true: the answer is a stream of events. Its image is a task, as with `async`, named by the header `x-mediary-image`: whoever loses the stream asks for it there. */
  readonly stream?: boolean;
  /** For tasks: `callback_url`, `execution_expires_after`. */
  readonly metadata?:
    | {
        readonly callback_url?: string;
        readonly execution_expires_after?: number;
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
    /** Unix seconds. Until then the link works. */
    readonly expires_at?: number;
  }[];
  readonly usage: ImageUsage;
  readonly background?: string;
  readonly output_format?: string;
  readonly quality?: string;
  readonly size?: string;
  /** Names of the fields that were ignored. */
  readonly warnings?: readonly string[];
};

export type ImageTask = UnfinishedTask | SucceededImage | FailedTask;

export type ImageTaskList = {
  readonly object: 'list';
  readonly first_id: string | null;
  readonly last_id: string | null;
  readonly has_more: boolean;
  readonly data: readonly ImageTask[];
};

export type Estimate = {
  readonly object: 'video.generation.estimate' | 'image.generation.estimate';
  readonly model: string;
  readonly currency: string;
  /** The amount that a create would hold, which is the worst case. */
  readonly hold: string;
  /** The lowest possible charge. Unknown counts are not charged. */
  readonly at_least: string;
  /** The highest possible charge. */
  readonly at_most: string;
  /** What similar requests have cost lately: the median of the last charges for this model at today's prices with the same resolution, duration, size, quality and counts. Absent if fewer than 3 are known. */
  readonly expected?: string;
  /** How the hold is computed, by the function that computes the hold of a create. `usual` is the charge if the first channel renders the defaults. */
  readonly explanation: {
    readonly hold: Reckoning;
    readonly usual: Reckoning;
  };
  /** Seconds from acceptance to the end of the render, if render times are known. */
  readonly eta_seconds?: {
    /** Half of such tasks end within this time. */
    readonly p50: number;
    /** Nine of ten such tasks end within this time. */
    readonly p90: number;
  };
  /** The cap that would refuse a create now with 402 `spend_cap_exceeded`. */
  readonly refused_by?: {
    /** `model`: of the key with this model. */
    readonly scope: 'key' | 'model' | 'end_user';
    readonly window: 'day' | 'month' | 'total';
    readonly limit: string;
    /** Charges and open holds. */
    readonly used: string;
    readonly left: string;
    /** Unix seconds. The begin of the next UTC day or month; absent: never. */
    readonly resets_at?: number;
  };
  readonly warnings: readonly string[];
  /** With `x-explain-route: 1`. */
  readonly route?: {
    readonly candidates: readonly {
      readonly channel: string;
      readonly credential: string;
    }[];
    readonly dropped: readonly {
      readonly channel: string;
      /** Absent: all credentials of the channel. */
      readonly credential?: string;
      readonly reason: string;
      readonly detail: string;
    }[];
  };
};

export type File = {
  /** In a request: `asset://<id>`, wherever it may name a medium. */
  readonly id: string;
  readonly object: 'file';
  readonly bytes: number;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. Then it is deleted. */
  readonly expires_at: number;
  readonly filename: string;
  readonly purpose: string;
  /** What its bytes say of it. Absent: of another kind of medium, or not known. */
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
  /** What its channels take: within `capabilities`, a request that fits one of them is rendered. Empty: it is not known. */
  readonly facts: readonly ModelFacts[];
  readonly pricing: {
    readonly currency: string;
    readonly minimum: string;
    /** The charge is the sum of the lines. For each measure, only the first line whose `when` holds counts. */
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
      /** The quantity that is free. For megapixels, it is free for each image. */
      readonly beyond: number;
      readonly when: {
        readonly [name: string]: unknown;
      };
    }[];
    /** Channels that have a price of their own, which takes the place of the model’s there. */
    readonly channels: readonly {
      readonly channel: string;
      readonly minimum: string;
      /** The charge is the sum of the lines. For each measure, only the first line whose `when` holds counts. */
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
        /** The quantity that is free. For megapixels, it is free for each image. */
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
  /** Held for unfinished tasks. */
  readonly held: string;
  /** Those of the key for all models; see also `GET /v1/key`. */
  readonly caps: readonly Cap[];
};

export type Error = {
  readonly error: {
    readonly message: string;
    readonly type: string;
    /** The field at fault, such as `metadata.seed`; empty if none is. */
    readonly param: string;
    /** One of the codes that the guide “Errors” explains. */
    readonly code: string;
    readonly class?: FailureClass;
    /** Of `spend_cap_exceeded`: the cap that refused. */
    readonly cap?: {
      /** `model`: of the key with this model. */
      readonly scope: 'key' | 'model' | 'end_user';
      readonly window: 'day' | 'month' | 'total';
      readonly limit: string;
      /** Charges and open holds. */
      readonly used: string;
      readonly left: string;
      /** Unix seconds. The begin of the next UTC day or month; absent: never. */
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
  /** The upstream's trace id; empty until it has given one. */
  readonly trace_id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** 0-100, if the upstream reports it. */
  readonly progress?: number;
  /** Of an unfinished task, as far as render times were learned. */
  readonly eta_seconds?: {
    /** Half of such tasks end within this time. */
    readonly p50: number;
    /** Nine of ten such tasks end within this time. */
    readonly p90: number;
  };
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    readonly last_frame_url?: string;
    /** Unix seconds. Until then the link works. */
    readonly expires_at?: number;
  }[];
  /** The resolution of the video: as rendered if that is known, otherwise as requested. Absent while the model may still choose the resolution or the ratio. */
  readonly resolution?: string;
  /** The aspect ratio of the video. Known, or absent, as `resolution` is. */
  readonly ratio?: string;
  /** The size of the video, `<width>x<height>`. Known, or absent, as `resolution` is. */
  readonly size?: string;
  /** What an unfinished task is expected to be charged; more may be held for it. */
  readonly estimate?: string;
};

export type SucceededVideo = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task';
  readonly status: 'succeeded';
  readonly message: string;
  /** The upstream's trace id; empty until it has given one. */
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
    /** Unix seconds. Until then the link works. */
    readonly expires_at?: number;
  }[];
  readonly video_url: string;
  /** Seconds: as the upstream reports them, else those that were paid for; 0 where nobody can say. */
  readonly duration: number;
  /** The resolution of the video: as rendered if that is known, otherwise as requested. Absent while the model may still choose the resolution or the ratio. */
  readonly resolution?: string;
  /** The aspect ratio of the video. Known, or absent, as `resolution` is. */
  readonly ratio?: string;
  /** The size of the video, `<width>x<height>`. Known, or absent, as `resolution` is. */
  readonly size?: string;
  /** As the upstream reports it; 0 where it does not count tokens. */
  readonly usage: {
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  /** What a task that succeeded was charged. */
  readonly charge: string;
};

export type FailedTask = {
  readonly id: string;
  readonly task_id: string;
  readonly object: 'video.generation.task' | 'image.generation.task';
  readonly status: 'failed';
  readonly message: string;
  /** The upstream's trace id; empty until it has given one. */
  readonly trace_id: string;
  readonly model: string;
  /** Unix seconds. */
  readonly created_at: number;
  /** Unix seconds. */
  readonly updated_at: number;
  /** Unix seconds. */
  readonly completed_at: number;
  /** 0-100, if the upstream reports it. */
  readonly progress?: number;
  readonly data: readonly {
    readonly url?: string;
    readonly b64_json?: string;
    readonly last_frame_url?: string;
    /** Unix seconds. Until then the link works. */
    readonly expires_at?: number;
  }[];
  readonly error: {
    readonly message: string;
    readonly code: TaskErrorCode;
    readonly class?: FailureClass;
    /** With `invalid_input`: the field that the upstream named, if it named one. */
    readonly field?: string;
    /** With `moderation_input`: what was refused, if the upstream says so. */
    readonly input?: 'prompt' | 'image' | 'video' | 'audio';
  };
};

/** Token counts; 0 where the upstream reports none. Any other counts are the upstream’s own. */
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
  /** The upstream's trace id; empty until it has given one. */
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
    /** Unix seconds. Until then the link works. */
    readonly expires_at?: number;
  }[];
  /** As the upstream reports it; 0 where it does not count tokens. */
  readonly usage: {
    readonly completion_tokens: number;
    readonly total_tokens: number;
  };
  /** What a task that succeeded was charged. */
  readonly charge: string;
};

export type Reckoning = {
  readonly amount: string;
  readonly channel: string;
  /** Whether the price is the model’s or the channel’s own. */
  readonly rules_of: 'model' | 'channel';
  /** The facts that the lines can test. `default`: the model’s entry names it. `open`: the request does not say, so the dearest value is assumed. `upstream`: the upstream reported it. `measured`: read from the stored result. `duration` is in seconds. */
  readonly facts: readonly {
    readonly name: string;
    readonly value: string | number | boolean | null;
    readonly source: 'request' | 'default' | 'open' | 'upstream' | 'measured';
  }[];
  /** The length of the output. */
  readonly seconds?: number;
  /** The measured length of the input videos. Absent if no price depends on it, or if the maximum was assumed. */
  readonly input_seconds?: number;
  /** For each measure, the first line whose `when` holds, multiplied by the count. Their sum is the first step. Empty if nothing could be priced. */
  readonly lines: readonly {
    /** Index into the lines of the price. */
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
    /** The price of one unit of the measure. */
    readonly price: string;
    readonly when: {
      readonly [name: string]: unknown;
    };
    /** The quantity in units of the measure, as decimal text. */
    readonly quantity: string;
    /** The free part of the quantity. */
    readonly free?: string;
    /** `request`: counted in the request. `default`, `open`: as for facts. `formula`: derived from the resolution, ratio and length of an output. `measured`: from the file itself. `upstream`: reported. `assumed`: the count is unknown; the highest possible count is held, and nothing is charged. */
    readonly source: 'request' | 'default' | 'open' | 'formula' | 'measured' | 'upstream' | 'assumed';
    /** The facts of this group of images. Absent if all images are alike. */
    readonly of?: {
      readonly [name: string]: unknown;
    };
    readonly text: string;
    /** Exact: only the sum is rounded. */
    readonly amount: string;
  }[];
  /** Each step starts from the amount of the step before. */
  readonly steps: readonly {
    readonly kind: 'sum' | 'minimum' | 'multiplier' | 'held' | 'least' | 'share' | 'limit';
    readonly text: string;
    /** The amount after this step. */
    readonly amount: string;
  }[];
};

export type TaskKind = 'video' | 'image';

/** What one channel takes beside a text, and renders. What is absent is not known to the gateway, and left to the upstream. `fields` that are not true are not sent, and named in `warnings`; `parameters` are names that may be sent, in `metadata` or in the body of an image request (where `values` are empty: not in that case); `cases` are laid over the others in their order, each where its condition holds. */
export type ModelFacts = {
  readonly prompt?: {
    readonly characters?: number;
    readonly wordless?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
  };
  readonly other_parameters?: boolean;
  readonly media?: {
    readonly frames?: number;
    readonly references?: number;
    readonly videos?: number;
    readonly audios?: number;
    readonly total?: number;
    readonly beside_frames?: readonly ('references' | 'videos' | 'audios')[];
    readonly needs?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
    readonly accompanied?: readonly ('references' | 'videos' | 'audios')[];
  };
  readonly resolutions?: readonly string[];
  readonly ratios?: readonly string[];
  readonly shapes?: {
    readonly [name: string]: unknown;
  };
  readonly seconds?: {
    readonly only?: readonly number[];
    readonly min?: number;
    readonly max?: number;
    readonly step?: number;
    readonly auto?: boolean;
  };
  readonly sound?: 'choice' | 'always' | 'never' | 'fixed';
  readonly seed?: {
    readonly min: number;
    readonly max: number;
  };
  readonly images?: {
    readonly only?: readonly number[];
    readonly max?: number;
  };
  readonly references?: {
    readonly min?: number;
    readonly max?: number;
    readonly mask?: boolean;
  };
  readonly sizes?: {
    readonly only?: readonly string[];
    readonly pixels?: {
      readonly step?: number;
      readonly side_min?: number;
      readonly side_max?: number;
      readonly min?: number;
      readonly max?: number;
      readonly longest?: number;
    };
    readonly classes?: {
      readonly [name: string]: unknown;
    };
    readonly about?: number;
    readonly ratios?: readonly string[];
    readonly rounded_up?: boolean;
    readonly tolerance?: number;
  };
  readonly qualities?: readonly string[];
  readonly fields?: {
    readonly mode?: boolean;
    readonly resolution?: boolean;
    readonly ratio?: boolean;
    readonly duration?: boolean;
    readonly draft?: boolean;
    readonly generate_audio?: boolean;
    readonly watermark?: boolean;
    readonly return_last_frame?: boolean;
    readonly seed?: boolean;
    readonly safety_identifier?: boolean;
    readonly tools?: boolean;
    readonly size?: boolean;
    readonly quality?: boolean;
  };
  readonly parameters?: {
    readonly [name: string]: unknown;
  };
  readonly cases?: readonly {
    readonly when?: {
      readonly brings?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
      readonly lacks?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
      readonly resolution?: readonly string[];
      readonly ratio?: readonly string[];
      readonly draft?: boolean;
      readonly metadata?: {
        readonly [name: string]: unknown;
      };
    };
    readonly facts: {
      readonly prompt?: {
        readonly characters?: number;
        readonly wordless?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
      };
      readonly other_parameters?: boolean;
      readonly media?: {
        readonly frames?: number;
        readonly references?: number;
        readonly videos?: number;
        readonly audios?: number;
        readonly total?: number;
        readonly beside_frames?: readonly ('references' | 'videos' | 'audios')[];
        readonly needs?: readonly ('first_frame' | 'last_frame' | 'references' | 'videos' | 'audios')[];
        readonly accompanied?: readonly ('references' | 'videos' | 'audios')[];
      };
      readonly resolutions?: readonly string[];
      readonly ratios?: readonly string[];
      readonly shapes?: {
        readonly [name: string]: unknown;
      };
      readonly seconds?: {
        readonly only?: readonly number[];
        readonly min?: number;
        readonly max?: number;
        readonly step?: number;
        readonly auto?: boolean;
      };
      readonly sound?: 'choice' | 'always' | 'never' | 'fixed';
      readonly seed?: {
        readonly min: number;
        readonly max: number;
      };
      readonly images?: {
        readonly only?: readonly number[];
        readonly max?: number;
      };
      readonly references?: {
        readonly min?: number;
        readonly max?: number;
        readonly mask?: boolean;
      };
      readonly sizes?: {
        readonly only?: readonly string[];
        readonly pixels?: {
          readonly step?: number;
          readonly side_min?: number;
          readonly side_max?: number;
          readonly min?: number;
          readonly max?: number;
          readonly longest?: number;
        };
        readonly classes?: {
          readonly [name: string]: unknown;
        };
        readonly about?: number;
        readonly ratios?: readonly string[];
        readonly rounded_up?: boolean;
        readonly tolerance?: number;
      };
      readonly qualities?: readonly string[];
      readonly fields?: {
        readonly mode?: boolean;
        readonly resolution?: boolean;
        readonly ratio?: boolean;
        readonly duration?: boolean;
        readonly draft?: boolean;
        readonly generate_audio?: boolean;
        readonly watermark?: boolean;
        readonly return_last_frame?: boolean;
        readonly seed?: boolean;
        readonly safety_identifier?: boolean;
        readonly tools?: boolean;
        readonly size?: boolean;
        readonly quality?: boolean;
      };
      readonly parameters?: {
        readonly [name: string]: unknown;
      };
    };
  }[];
};

export type Cap = {
  /** `model`: of the key with this model. */
  readonly scope: 'key' | 'model' | 'end_user';
  readonly window: 'day' | 'month' | 'total';
  readonly limit: string;
  /** Charges and open holds. */
  readonly used: string;
  readonly left: string;
  /** Unix seconds. The begin of the next UTC day or month; absent: never. */
  readonly resets_at?: number;
};

/** What the failure of an upstream was. The guide “Errors” explains each. */
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
