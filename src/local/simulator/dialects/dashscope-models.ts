/** Which service a model belongs to, and what its parameters may be. */
export interface DashScopeModel {
  /** Paths below `/services/aigc` that take it. */
  readonly services: readonly string[];
  readonly kind: 'video' | 'image';
  /** Input fields without which a submit is refused at once. */
  readonly needs: readonly string[];
  /** `size` values with an asterisk; empty where sizes are free or not taken. */
  readonly sizes: readonly string[];
  /** Sides of a free size, pixels. */
  readonly side: readonly [min: number, max: number] | undefined;
  readonly resolutions: readonly string[];
  readonly durations: readonly number[];
  readonly imagesMax: number;
  readonly defaultSize: string;
  /** Newer models report more in `usage`. */
  readonly fullUsage: boolean;
}

export const services = {
  video: 'video-generation/video-synthesis',
  keyFrames: 'image2video/video-synthesis',
  textToImage: 'text2image/image-synthesis',
  imageToImage: 'image2image/image-synthesis',
  imageGeneration: 'image-generation/generation',
  multimodal: 'multimodal-generation/generation',
} as const;

const sizesOf: Readonly<Record<string, readonly string[]>> = {
  '480P': ['832*480', '480*832', '624*624'],
  '720P': ['1280*720', '720*1280', '960*960', '1088*832', '832*1088'],
  '1080P': ['1920*1080', '1080*1920', '1440*1440', '1632*1248', '1248*1632'],
};
const allSizes = Object.values(sizesOf).flat();
const allResolutions = Object.keys(sizesOf);
export const videoRatios = ['16:9', '9:16', '1:1', '4:3', '3:4'];

const video: DashScopeModel = {
  services: [services.video],
  kind: 'video',
  needs: ['prompt'],
  sizes: [],
  side: undefined,
  resolutions: [],
  durations: [5],
  imagesMax: 1,
  defaultSize: '1280*720',
  fullUsage: false,
};
const longVideo = Array.from({ length: 14 }, (_, index) => index + 2);
const image: DashScopeModel = {
  ...video,
  kind: 'image',
  services: [services.textToImage],
  side: [512, 1440],
  imagesMax: 4,
  durations: [],
  defaultSize: '1024*1024',
};
const qwenSizes = ['1664*928', '1472*1104', '1328*1328', '1104*1472', '928*1664'];

const families: readonly (readonly [pattern: RegExp, model: DashScopeModel])[] = [
  [/^wan3\.0-video(-prime)?$/, { ...video, needs: [], resolutions: allResolutions, durations: [-1, ...Array.from({ length: 29 }, (_, index) => index + 2)], fullUsage: true }],
  [/^(wan2\.7|happyhorse-1\.[01])-(i2v|r2v)(-[\d-]+)?$/, { ...video, needs: ['media'], resolutions: allResolutions, durations: longVideo, fullUsage: true }],
  [/^(wan2\.7-(t2v|videoedit)|happyhorse-1\.[01]-[\w-]+)$/, { ...video, resolutions: allResolutions, durations: longVideo, fullUsage: true }],
  [/^wan2\.6-(t2v|r2v)$/, { ...video, sizes: allSizes, durations: longVideo }],
  [/^wan2\.6-i2v(-flash)?$/, { ...video, needs: ['img_url'], resolutions: allResolutions, durations: longVideo }],
  [/^wan2\.5-t2v-preview$/, { ...video, sizes: allSizes, durations: [5, 10] }],
  [/^wan2\.5-i2v-preview$/, { ...video, needs: ['img_url'], resolutions: allResolutions, durations: [5, 10] }],
  [/^(wan2\.2-t2v-plus|wanx2\.1-t2v-(turbo|plus))$/, { ...video, sizes: allSizes }],
  [/^(wan2\.2-i2v-(plus|flash)|wanx2\.1-i2v-(turbo|plus))$/, { ...video, needs: ['img_url'], resolutions: allResolutions }],
  [/^(wan2\.2-kf2v-flash|wanx2\.1-kf2v-plus)$/, { ...video, services: [services.keyFrames], needs: ['first_frame_url'], resolutions: allResolutions }],
  [/^(wanx|wan2\.)[\w.]*-t2i[\w-]*$/, image],
  [/^(wanx2\.1-imageedit)$/, { ...image, services: [services.imageToImage], needs: ['prompt', 'function', 'base_image_url'] }],
  [/^wan2\.5-i2i[\w-]*$/, { ...image, services: [services.imageToImage], needs: ['prompt', 'images'] }],
  [/^(wan2\.7-image(-pro)?)$/, { ...image, services: [services.imageGeneration, services.multimodal], needs: ['messages'], side: [512, 4096] }],
  [/^qwen-image-(2\.0|2\.0-pro|3\.0-pro)$/, { ...image, services: [services.multimodal], needs: ['messages'], side: [512, 2048], imagesMax: 6 }],
  [/^wan2\.6-image$/, { ...image, services: [services.imageGeneration, services.multimodal], needs: ['messages'] }],
  [/^qwen-image-(edit[\w-]*|max)$/, { ...image, services: [services.multimodal], needs: ['messages'], sizes: qwenSizes, side: undefined, imagesMax: 1, defaultSize: '1328*1328' }],
  [/^qwen-image(-plus)?$/, { ...image, services: [services.textToImage, services.multimodal], sizes: qwenSizes, side: undefined, imagesMax: 1, defaultSize: '1664*928' }],
]; // prettier-ignore

export function findDashScopeModel(name: string): DashScopeModel | undefined {
  return families.find(([pattern]) => pattern.test(name))?.[1];
}

/** Pixels of a resolution in a ratio. */
export function videoSize(resolution: string, ratio: string): string {
  const index =
    resolution === '480P'
      ? ['16:9', '9:16', '1:1'].indexOf(ratio)
      : ['16:9', '9:16', '1:1', '4:3', '3:4'].indexOf(ratio);
  return sizesOf[resolution]?.[Math.max(0, index)] ?? '1280*720';
}

/** The number in `usage.SR`. */
export function resolutionOf(size: string): number {
  const found = Object.entries(sizesOf).find(([, sizes]) => sizes.includes(size));
  return Number.parseInt(found?.[0] ?? '720P', 10);
}
