import type { TrashedItem } from '@stowage/plugin-api';
import { isPathSegment, parsePath } from '@stowage/rules';
import { z } from 'zod';
import { deletionTime } from './TrashNotes.js';

/** What the name of a deleted item says of it until it has a row. */
export type NamedDeletion = Pick<TrashedItem, 'id' | 'ownerId' | 'ownerName' | 'path' | 'deletedAt' | 'deletedBy'>;

/** With `s`: a path may have a line separator (U+2028), at which a dot would end. */
const name = /^([0-9a-f]{32})\.([\w-]+)\.(.+)$/s;

const details = z.tuple([z.string(), deletionTime, z.string(), z.string()]);

/**
 * The name of an item until a row says what it is; undefined if its path is too long for that. Whoever reads the name finds the same in
 * it, since an item whose name says nothing is in nobody's trash.
 */
export function unrecordedName(deletion: NamedDeletion): string | undefined {
	const { id, ownerId, ownerName, path, deletedAt, deletedBy } = deletion;
	const info: z.infer<typeof details> = [ownerId, deletedAt, ownerName, deletedBy === ownerName ? '' : deletedBy];
	const encoded = Buffer.from(JSON.stringify(info)).toString('base64url');
	const made = `${id}.${encoded}.${path.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
	if (!isPathSegment(made)) return undefined;
	const read = parseUnrecordedName(made);
	return read !== undefined && isSame(read, deletion) ? made : undefined;
}

function isSame(one: NamedDeletion, other: NamedDeletion): boolean {
	const parts = ['id', 'ownerId', 'ownerName', 'path', 'deletedAt', 'deletedBy'] as const;
	return parts.every((part) => one[part] === other[part]);
}

/** What the name of such an item says; undefined for any other name. */
export function parseUnrecordedName(text: string): NamedDeletion | undefined {
	const [, id, encoded, path] = name.exec(text) ?? [];
	if (id === undefined || encoded === undefined || path === undefined) return undefined;
	try {
		const info = details.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
		const [ownerId, deletedAt, ownerName, deletedBy] = info;
		const from = parsePath(path.replaceAll('%2F', '/').replaceAll('%25', '%'));
		return { id, ownerId, ownerName, path: from, deletedAt, deletedBy: deletedBy || ownerName };
	} catch {
		return undefined;
	}
}
