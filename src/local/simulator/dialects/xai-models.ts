/** Models of videos; rates in thousandths of a dollar for each second. */
export interface XaiVideoModel {
  readonly rates: Readonly<Record<string, number>>;
  readonly lastFrame: boolean;
  readonly references: boolean;
  readonly voices: boolean;
  readonly extends: boolean;
}

const later: XaiVideoModel = {
  rates: { '480p': 80, '720p': 140, '1080p': 250 },
  lastFrame: true,
  references: true,
  voices: true,
  extends: false,
};

export const xaiVideoModels: Readonly<Record<string, XaiVideoModel>> = {
  'grok-imagine-video': {
    rates: { '480p': 50, '720p': 70 },
    lastFrame: false,
    references: true,
    voices: false,
    extends: true,
  },
  'grok-imagine-video-1.5': later,
  'grok-imagine-video-1.5-preview': later,
  'grok-imagine-video-1.5-lite': {
    rates: { '480p': 20, '720p': 30, '1080p': 140 },
    lastFrame: false,
    references: false,
    voices: false,
    extends: false,
  },
};

/** Thousandths of a dollar for an image, by resolution and quality; a single price where there is no choice (17.2). */
export const xaiImageModels: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'grok-imagine-image-2.0': { '1k low': 40, '1k medium': 60, '2k low': 60, '2k medium': 80 },
  'grok-imagine-image': { '1k': 20, '2k': 20 },
  'grok-imagine-image-quality': { '1k': 50, '2k': 70 },
  'grok-imagine-image-pro': { '1k': 50, '2k': 70 },
};

/** Each image that an edit starts from. */
export const inputImageRate = 10;
export const ticksPerThousandth = 10_000_000;

export const videoRatios = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3'];
export const imageRatios = [
  'auto', '1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2', '20:9', '9:20', '19.5:9', '9:19.5',
]; // prettier-ignore
