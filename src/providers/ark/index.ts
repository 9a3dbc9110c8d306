import { arkImage } from './ark-image.ts';
import { arkVideo } from './ark-video.ts';
import type { Provider } from '../provider.ts';

/** Volcengine Ark and BytePlus ModelArk. */
export const ark: Provider = { video: arkVideo, image: arkImage };
