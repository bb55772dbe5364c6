import * as contract from '@stowage/contract';
import { type Area, type Entry, isFailure, type Owner } from '@stowage/rules';
import type { z } from 'zod';
import { call, endpointUrl } from './client/client.js';

/** The URL from which the viewer of this listing downloads an entry; a folder comes as a ZIP. */
export function downloadUrl(area: Area, entry: Pick<Entry, 'path' | 'owner'>): string {
	return plainUrl(area, entry.path, area === 'public' ? entry.owner : undefined);
}

/** The download URL of a path in an owner's tree. */
export function plainUrl(type: Area, path: string, owner: Owner | undefined): string {
	// In a query the empty owner is the ownerless tree.
	const query = owner === undefined ? { type } : { type, owner: owner ?? '' };
	return endpointUrl(contract.download, { query, params: { path } });
}

/**
 * The URL of a small picture of a file, as WebP: answered 415 if there is none, 503 while too many are rendered.
 * Another content has another URL, since browsers show a picture again by its URL without asking.
 */
export function thumbnailUrl(
	area: Area,
	{ path, owner, size: bytes, mtime }: Pick<Entry, 'path' | 'owner' | 'size' | 'mtime'>,
	size: contract.ThumbnailSize,
): string {
	const query = { type: area, ...(area === 'public' ? { owner: owner ?? '' } : {}), size: `${size}` as const };
	return `${endpointUrl(contract.thumbnail, { query, params: { path } })}&v=${bytes}-${mtime}`;
}

/** A URL that downloads one selection as a ZIP of a known size. */
export type DownloadTicket = z.output<typeof contract.makeTicket.result>;

export type TicketEntry = Pick<Entry, 'path' | 'name' | 'owner'>;

export interface TicketSelection {
	area: Area;
	/** The folder on screen. */
	directory: string;
	entries: readonly TicketEntry[];
}

export function createTicket(
	{ area, directory, entries }: TicketSelection,
	signal?: AbortSignal,
): Promise<DownloadTicket> {
	const files = entries.map(({ path, name, owner }) => ({ path, name, ...(owner === undefined ? {} : { owner }) }));
	return call(contract.makeTicket, { payload: { files, type: area, directory }, ...(signal ? { signal } : {}) });
}

/** Cancels a ticket: downloads of it break off and its URL stops working. One that has ended already is no error. */
export async function endTicket({ ticket }: DownloadTicket): Promise<void> {
	try {
		await call(contract.endTicket, { params: { ticket } });
	} catch (error) {
		if (!isFailure(error, 'expired') && !isFailure(error, 'notFound')) throw error;
	}
}
