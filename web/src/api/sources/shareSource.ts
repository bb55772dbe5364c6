import { browseShare, downloadFromShare, makeShareTicket, shareEvents, shareThumbnail } from '@stowage/contract';
import { call, endpointUrl, fetchResponse } from '../client/client.js';
import type { FileSource } from './FileSource.js';

/** The files of a share, for whoever has its address. */
export function shareSource(token: string): FileSource {
	const shownUrl = ({ path }: { path: string }) =>
		endpointUrl(downloadFromShare, { params: { token, path }, query: { inline: '1' } });
	return {
		place: `share ${token}`,
		reader: 'guest',
		events: undefined,
		ticketEvents: (tickets) => endpointUrl(shareEvents, { params: { token }, query: { ticket: [...tickets] } }),
		browse: (query, signal) => fetchResponse(browseShare, { query, params: { token }, signal }),
		downloadUrl: ({ path }) => endpointUrl(downloadFromShare, { params: { token, path } }),
		viewUrl: shownUrl,
		tabUrl: shownUrl,
		thumbnailUrl({ path, size: bytes, mtime }, size) {
			const url = endpointUrl(shareThumbnail, { query: { size: `${size}` as const }, params: { token, path } });
			return `${url}&v=${bytes}-${mtime}`;
		},
		createTicket: (directory, entries, signal) =>
			call(makeShareTicket, {
				params: { token },
				payload: { files: entries.map(({ path, name }) => ({ path, name })), directory },
				...(signal ? { signal } : {}),
			}),
		viewerLink: undefined,
	};
}
