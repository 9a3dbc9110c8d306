/** The lists in vendors' SDKs with which the fact tables are compared. */

export type Listed =
  | 'models'
  | 'resolutions'
  | 'ratios'
  | 'seconds'
  | 'qualities'
  | 'sizes'
  | 'parameters'
  | `parameters.${string}`;

export interface SdkList {
  readonly vendor: string;
  readonly kind: 'video' | 'image';
  readonly sdk: { readonly npm: string } | { readonly pypi: string };
  /** For npm, a TypeScript type. For PyPI, `module:Name` or `module:Class.field`. */
  readonly type: string;
  readonly lists: Listed;
  /** Selects the entries to compare, if the list also contains other kinds of models. */
  readonly only?: RegExp;
  /** The models that have these values, under the vendor's names. Undefined if the values apply to all models. */
  readonly of?: readonly string[];
  readonly differs?: Readonly<Record<string, string>>;
}

const openai = { vendor: 'openai', kind: 'image', sdk: { npm: 'openai' } } as const;
const openaiImages = "import('openai/resources/images')";
const ofCreations = (field: string) =>
  `${openaiImages}.ImageGenerateParams['${field}'] | ${openaiImages}.ImageEditParams['${field}']`;
const ownFields = 'a field of every request';

const runway = (kind: 'video' | 'image', file: string, name: string): SdkList => ({
  vendor: 'runway',
  kind,
  sdk: { npm: '@runwayml/sdk' },
  type: `import('@runwayml/sdk/resources/${file}').${name}['model']`,
  lists: 'models',
});

const aiSdk = (name: string, provider: string, of: 'video' | 'image') => ({
  sdk: { npm: `@ai-sdk/${name}` },
  type: `Parameters<import('@ai-sdk/${name}').${provider}['${of}']>[0]`,
  kind: of,
  lists: 'models' as const,
});

const xai = { vendor: 'xai', sdk: { pypi: 'xai-sdk' } } as const;
const luma = { vendor: 'luma', sdk: { pypi: 'luma-agents' } } as const;
const lumaCreation = 'luma_agents.types.generation_create_params:GenerationCreateParams';
const genai = {
  vendor: 'google',
  sdk: { npm: '@google/genai' },
  type: "import('@google/genai').Interactions.Model",
} as const;

export const sdkLists: readonly SdkList[] = [
  { ...openai, type: `${openaiImages}.ImageModel`, lists: 'models' },
  { vendor: 'openai', ...aiSdk('openai', 'OpenAIProvider', 'image') },
  { ...openai, type: ofCreations('quality'), lists: 'qualities' },
  { ...openai, type: ofCreations('size'), lists: 'sizes' },
  { ...openai, type: ofCreations('output_format'), lists: 'parameters.output_format' },
  { ...openai, type: ofCreations('complexity'), lists: 'parameters.complexity' },
  {
    ...openai,
    type: `keyof ${openaiImages}.ImageGenerateParamsBase | keyof ${openaiImages}.ImageEditParamsBase`,
    lists: 'parameters',
    differs: {
      prompt: ownFields,
      model: ownFields,
      n: ownFields,
      size: ownFields,
      quality: ownFields,
      response_format: ownFields,
      stream: ownFields,
      image: 'the references',
      mask: 'a field of its own',
    },
  },
  runway('video', 'text-to-video', 'TextToVideoCreateParams'),
  runway('video', 'image-to-video', 'ImageToVideoCreateParams'),
  runway('video', 'video-to-video', 'VideoToVideoCreateParams'),
  runway('image', 'text-to-image', 'TextToImageCreateParams'),
  { ...genai, kind: 'image', only: /image|banana/, lists: 'models' },
  { ...genai, kind: 'video', only: /omni|veo/, lists: 'models' },
  { vendor: 'google', ...aiSdk('google', 'GoogleProvider', 'image') },
  { vendor: 'google', ...aiSdk('google', 'GoogleProvider', 'video') },
  { vendor: 'google', ...aiSdk('google-vertex', 'GoogleVertexProvider', 'image') },
  { vendor: 'google', ...aiSdk('google-vertex', 'GoogleVertexProvider', 'video') },
  { vendor: 'ark', ...aiSdk('bytedance', 'ByteDanceProvider', 'video') },
  { vendor: 'ark', ...aiSdk('bytedance', 'ByteDanceProvider', 'image') },
  { vendor: 'dashscope', ...aiSdk('alibaba', 'AlibabaProvider', 'video') },
  { vendor: 'bfl', ...aiSdk('black-forest-labs', 'BlackForestLabsProvider', 'video') },
  { vendor: 'bfl', ...aiSdk('black-forest-labs', 'BlackForestLabsProvider', 'image') },
  { vendor: 'luma', ...aiSdk('luma', 'LumaProvider', 'image') },
  { vendor: 'xai', ...aiSdk('xai', 'XaiProvider', 'video') },
  { vendor: 'xai', ...aiSdk('xai', 'XaiProvider', 'image') },
  { ...xai, kind: 'video', type: 'xai_sdk.types.model:VideoGenerationModel', lists: 'models' },
  { ...xai, kind: 'image', type: 'xai_sdk.types.model:ImageGenerationModel', lists: 'models' },
  { ...xai, kind: 'video', type: 'xai_sdk.types.video:VideoResolution', lists: 'resolutions' },
  {
    ...xai,
    kind: 'video',
    type: 'xai_sdk.types.video:VideoAspectRatio',
    lists: 'ratios',
    differs: { adaptive: 'ours: no ratio is sent' },
  },
  { ...xai, kind: 'image', type: 'xai_sdk.types.image:ImageAspectRatio', lists: 'ratios' },
  {
    ...xai,
    kind: 'image',
    type: 'xai_sdk.types.image:ImageQuality',
    lists: 'qualities',
    differs: { high: 'in the message types of the same SDK' },
  },
  { ...luma, kind: 'video', type: 'luma_agents.types.model:Model', only: /^ray/, lists: 'models' },
  { ...luma, kind: 'image', type: 'luma_agents.types.model:Model', only: /^uni/, lists: 'models' },
  {
    ...luma,
    kind: 'video',
    type: 'luma_agents.types.video_resolution:VideoResolution',
    lists: 'resolutions',
  },
  { ...luma, kind: 'video', type: 'luma_agents.types.video_duration:VideoDuration', lists: 'seconds' },
  { ...luma, kind: 'image', type: `${lumaCreation}.aspect_ratio`, lists: 'ratios' },
  { ...luma, kind: 'image', type: `${lumaCreation}.output_format`, lists: 'parameters.output_format' },
  { ...luma, kind: 'image', type: `${lumaCreation}.style`, lists: 'parameters.style' },
];
