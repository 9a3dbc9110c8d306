/** The models in local mode's configuration, so that the document's examples work there as they are. */
export const exampleModels = { video: 'seedance-2.5', image: 'gpt-image-2.5-flare' } as const;
