import type { BflImageModel } from './bfl-image-models.ts';
import { defined } from '../../domain/defined.ts';
import type { JsonObject } from '../../domain/request.ts';
import { parseSize } from '../shared/image-input.ts';
import { isAboutAsLarge, ratioOfPixels } from '../shared/image-shape.ts';

/** The fields that say a size; undefined: the model does not render it. */
export function shapeFields(size: string, { shape }: BflImageModel): JsonObject | undefined {
  if (size.toLowerCase() === 'auto') return {};
  const named = shape.kind === 'class' ? size.toLowerCase() : '';
  if (shape.kind === 'class' && Object.hasOwn(shape.classes, named)) return { resolution: named };
  const pixels = parseSize(size);
  if (pixels === undefined) return undefined;
  const { width, height } = pixels;
  switch (shape.kind) {
    case 'pixels': {
      const { step, min, max, pixelsMax } = shape;
      const fits = [width, height].every((side) => side % step === 0 && side >= min && side <= max);
      return fits && width * height <= pixelsMax ? { width, height } : undefined;
    }
    case 'ratio': {
      const aspect_ratio = ratioOfPixels(pixels, shape.ratios);
      return aspect_ratio === undefined || !isAboutAsLarge(pixels, shape.pixels)
        ? undefined
        : { aspect_ratio };
    }
    case 'class': {
      const aspect_ratio = ratioOfPixels(pixels, shape.ratios);
      const resolution = Object.entries(shape.classes).find(([, count]) =>
        isAboutAsLarge(pixels, count),
      )?.[0];
      const found = defined({ aspect_ratio, resolution });
      return Object.keys(found).length === 2 ? found : undefined;
    }
    case 'none':
      return undefined;
    default:
      return shape satisfies never;
  }
}
