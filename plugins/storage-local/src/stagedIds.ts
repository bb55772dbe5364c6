import { randomBytes } from 'node:crypto';
import { Failure } from '@stowage/rules';
import { type Facts, objectId } from './facts.js';

/**
 * A staged file's id is its random name and, after it, the object that it is: that finds the file again under whatever path
 * it was published.
 */
export interface StagedId {
	readonly name: string;
	readonly object: string;
}

export function randomName(): string {
	return randomBytes(16).toString('hex');
}

export function formatStagedId(name: string, facts: Facts): string {
	return `${name}-${objectId(facts)}`;
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
