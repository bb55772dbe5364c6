import { Failure } from '@stowage/rules';
import { type FileStat, objectId } from '../system/fileStat.js';

/**
 * A staged file's id is its random name and, after it, the object that it is: that finds the file again under whatever path
 * it was published.
 */
export interface StagedId {
	readonly name: string;
	readonly object: string;
}

export function formatStagedId(name: string, stat: FileStat): string {
	return `${name}-${objectId(stat)}`;
}

/** Throws `notFound` for what no staged file was ever called. */
export function parseStagedId(id: string): StagedId {
	const [, name, object] = /^([0-9a-f]{32})-([0-9a-z]{1,13}-(?:[0-9a-z]{1,13}|[0-9a-f]{64}))$/.exec(id) ?? [];
	if (name === undefined || object === undefined) throw noSuchUpload();
	return { name, object };
}

export function noSuchUpload(cause?: unknown): Failure {
	return new Failure('notFound', 'That upload is not known.', { cause });
}
