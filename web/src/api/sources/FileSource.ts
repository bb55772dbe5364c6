import type { ThumbnailSize } from '@stowage/contract';
import type { Area, Entry } from '@stowage/rules';
import { createContext, use } from 'react';
import type { DownloadTicket, TicketEntry } from '../downloads.js';

/** A folder, with the parameters of a search in it. */
export type FolderQuery = { directory: string } & Readonly<Record<string, string>>;

/**
 * Where the list, the search, the viewers and the downloads read files from: an area, or a share. They know no
 * addresses of their own, and so show any tree that has these.
 */
export interface FileSource {
	/** Distinguishes its listings in the cache, and its folders in the history. */
	readonly place: string;
	/** Who reads it: others may see other files in the same place. Undefined until that is known; until then nothing is fetched. */
	readonly reader: 'user' | 'visitor' | 'guest' | undefined;
	/** Whose events tell of its changes; undefined if none do. */
	readonly events: { area: Area; isSignedIn: boolean } | undefined;
	/** The address of a stream with the events of these tickets; undefined where the one of `events` has them. */
	readonly ticketEvents: ((tickets: readonly string[]) => string) | undefined;
	/** The response with a `Listing`. Throws as `fetchResponse` does. */
	browse(query: FolderQuery, signal: AbortSignal): Promise<Response>;
	/** The address from which an entry is read and downloaded; a folder comes as a ZIP. */
	downloadUrl(entry: Pick<Entry, 'path' | 'owner'>): string;
	/** The address from which a viewer reads an entry: of a share that is no download of it. */
	viewUrl(entry: Pick<Entry, 'path' | 'owner'>): string;
	/** The address at which the browser itself shows an entry, in a tab of its own. */
	tabUrl(entry: Pick<Entry, 'path' | 'owner'>): string;
	/** The address of a small picture of a file, as that of `thumbnailUrl` in `downloads.ts`. */
	thumbnailUrl(entry: Pick<Entry, 'path' | 'owner' | 'size' | 'mtime'>, size: ThumbnailSize): string;
	createTicket(directory: string, entries: readonly TicketEntry[], signal?: AbortSignal): Promise<DownloadTicket>;
	/** An address at which an external viewer fetches a document, for a while; undefined where there are none. */
	readonly viewerLink: ((entry: Pick<Entry, 'path' | 'owner'>) => Promise<string>) | undefined;
}

export const FileSourceContext = createContext<FileSource | undefined>(undefined);

/** The source of the page on screen. */
export function useFileSource(): FileSource {
	const source = use(FileSourceContext);
	if (!source) throw new Error('The page has no source of files.');
	return source;
}
