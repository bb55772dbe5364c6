import type { TrashedItem } from '@stowage/plugin-api';
import { isPathSegment, parsePath } from '@stowage/rules';
import { z } from 'zod';
import { deletionTime } from './TrashNotes.js';

/** What the name of a deleted item says of it until it has a row. */
export type NamedDeletion = Pick<TrashedItem, 'id' | 'ownerId' | 'ownerName' | 'path' | 'deletedAt' | 'deletedBy'>;

const name = /^([0-9a-f]{32})\.([\w-]+)\.(.+)$/;

const details = z.tuple([z.string(), deletionTime, z.string(), z.string()]);

/** The name of an item until a row says what it is; undefined if its path is too long for that. */
export function unrecordedName({
	id,
	ownerId,
	ownerName,
	path,
	deletedAt,
	deletedBy,
}: NamedDeletion): string | undefined {
	const info: z.infer<typeof details> = [ownerId, deletedAt, ownerName, deletedBy === ownerName ? '' : deletedBy];
	const encoded = Buffer.from(JSON.stringify(info)).toString('base64url');
	const made = `${id}.${encoded}.${path.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
	return isPathSegment(made) ? made : undefined;
}

/** Undefined for a name that no such item has. */
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
