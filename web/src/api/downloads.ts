import * as contract from '@stowage/contract';
import { type Area, type Entry, isFailure, type Owner } from '@stowage/rules';
import type { z } from 'zod';
import { call, endpointUrl } from './client/client.js';

/** The address from which a file is downloaded by whoever looks at this listing; a folder comes as its ZIP. */
export function downloadUrl(area: Area, entry: Pick<Entry, 'path' | 'owner'>): string {
	return plainAddress(area, entry.path, area === 'public' ? entry.owner : undefined);
}

/** The same of what lies at a path of an owner's tree. */
export function plainAddress(type: Area, path: string, owner: Owner | undefined): string {
	// In a query the empty owner is the ownerless tree.
	const query = owner === undefined ? { type } : { type, owner: owner ?? '' };
	return endpointUrl(contract.download, { query, params: { path } });
}

/** The right to download one selection as it was, as a ZIP of a known size, from an address of its own. */
export type DownloadTicket = z.output<typeof contract.makeTicket.result>;

export interface TicketSelection {
	area: Area;
	/** Where it was chosen. */
	directory: string;
	entries: readonly Pick<Entry, 'path' | 'name' | 'owner'>[];
}

export function createTicket(
	{ area, directory, entries }: TicketSelection,
	signal?: AbortSignal,
): Promise<DownloadTicket> {
	const files = entries.map(({ path, name, owner }) => ({ path, name, ...(owner === undefined ? {} : { owner }) }));
	return call(contract.makeTicket, { payload: { files, type: area, directory }, ...(signal ? { signal } : {}) });
}

/** What is being sent for it breaks off, and its address is no longer good. One that has ended already is fine. */
export async function endTicket({ ticket }: DownloadTicket): Promise<void> {
	try {
		await call(contract.endTicket, { params: { ticket } });
	} catch (error) {
		if (!isFailure(error, 'expired') && !isFailure(error, 'notFound')) throw error;
	}
}
