/**
 * What `findOneAndUpdate` needs to read one document as the majority has it: an election may leave a read behind, and no
 * write. Null means that there is none, which is certain.
 */
export const readByWrite = [{ $inc: { reads: 1 } }, { returnDocument: 'after' }] as const;
