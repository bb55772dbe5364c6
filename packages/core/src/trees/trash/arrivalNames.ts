import type { TrashedItem } from '@stowage/plugin-api';
import { isPathSegment, parsePath } from '@stowage/rules';
import { z } from 'zod';
import { deletionTime } from './TrashNotes.js';

/** What the name of an arriving item says of it. */
export type Arrival = Pick<TrashedItem, 'id' | 'ownerId' | 'ownerName' | 'path' | 'deletedAt' | 'deletedBy'>;

const name = /^([0-9a-f]{32})\.([\w-]+)\.(.+)$/;

const details = z.tuple([z.string(), deletionTime, z.string(), z.string()]);

/** The name of an item until a row says what it is; undefined if its path is too long for that. */
export function arrivalName({ id, ownerId, ownerName, path, deletedAt, deletedBy }: Arrival): string | undefined {
	const said: z.infer<typeof details> = [ownerId, deletedAt, ownerName, deletedBy === ownerName ? '' : deletedBy];
	const encoded = Buffer.from(JSON.stringify(said)).toString('base64url');
	const made = `${id}.${encoded}.${path.replaceAll('%', '%25').replaceAll('/', '%2F')}`;
	return isPathSegment(made) ? made : undefined;
}

/** Undefined for a name that no arriving item has. */
export function parseArrival(text: string): Arrival | undefined {
	const [, id, encoded, path] = name.exec(text) ?? [];
	if (id === undefined || encoded === undefined || path === undefined) return undefined;
	try {
		const said = details.parse(JSON.parse(Buffer.from(encoded, 'base64url').toString()));
		const [ownerId, deletedAt, ownerName, deletedBy] = said;
		const from = parsePath(path.replaceAll('%2F', '/').replaceAll('%25', '%'));
		return { id, ownerId, ownerName, path: from, deletedAt, deletedBy: deletedBy || ownerName };
	} catch {
		return undefined;
	}
}
