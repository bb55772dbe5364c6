import { Failure } from '@stowage/rules';
import { copyPrefix } from '../root/privateFolder.js';
import { type FileStat, objectId } from '../system/fileStat.js';

/**
 * The id of a staged file or copy is its random name and, after it, the object that it is: that finds it again under whatever path
 * it was published.
 */
export interface StagedId {
	readonly name: string;
	readonly object: string;
}

export function formatStagedId(name: string, stat: FileStat): string {
	return `${name}-${objectId(stat)}`;
}

/** Throws `notFound` for an invalid id of a staged file. */
export function parseStagedId(id: string): StagedId {
	const staged = parse(id);
	if (staged === undefined || staged.name.startsWith(copyPrefix)) throw noSuchUpload();
	return staged;
}

/** The parts of the id of a staged copy; undefined for an invalid one. */
export function parseCopyId(id: string): StagedId | undefined {
	const staged = parse(id);
	return staged?.name.startsWith(copyPrefix) ? staged : undefined;
}

function parse(id: string): StagedId | undefined {
	const [, name, object] = /^((?:copy-)?[0-9a-f]{32})-([0-9a-z]{1,13}-(?:[0-9a-z]{1,13}|[0-9a-f]{64}))$/.exec(id) ?? [];
	return name === undefined || object === undefined ? undefined : { name, object };
}

export function noSuchUpload(): Failure {
	return new Failure('notFound', 'That upload is not known.');
}
