/** Models of local mode's own configuration: the document's examples work there as they stand. */
export const exampleModels = { video: 'seedance-2.5', image: 'gpt-image-2.5-flare' } as const;
