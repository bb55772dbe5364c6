import type { Entry } from '@stowage/rules';
import { useCallback } from 'react';
import type { DownloadTicket } from '../../api/downloads.js';
import { type FileSource, useFileSource } from '../../api/sources/FileSource.js';
import { type Notify, useNotify } from '../../ui/notifications/useNotify.js';
import { mustBeZip } from './downloadChoice.js';
import { downloadMessages as messages } from './messages.js';
import { startDownloads } from './startDownloads.js';

/** Downloads each file by itself, or everything as one ZIP. `ticket` is one that was created for these entries already. */
export type Download = (
	entries: readonly Pick<Entry, 'path' | 'name' | 'owner' | 'type' | 'size'>[],
	asZip: boolean,
	ticket?: DownloadTicket,
) => void;

export function useDownloads(directory: string): Download {
	const source = useFileSource();
	const { notify, dismiss } = useNotify();
	return useCallback(
		(entries, asZip, prepared) => {
			if (asZip || mustBeZip(entries)) void downloadZip();
			else void startDownloads(entries.map((entry) => source.downloadUrl(entry)));

			async function downloadZip() {
				const controller = new AbortController();
				try {
					const ticket = prepared ?? (await prepare(controller));
					if (ticket.skipped > 0) notify({ intent: 'warning', message: messages.leftOut(ticket.skipped) });
					await showProgress(ticket, { notify, dismiss }, source);
					await startDownloads([ticket.url]);
				} catch (error) {
					if (controller.signal.aborted) return;
					const detail = error instanceof Error ? { detail: error.message } : {};
					notify({ intent: 'danger', message: messages.zipFailed, ...detail });
				}
			}

			async function prepare(controller: AbortController): Promise<DownloadTicket> {
				// Without a key: several may be prepared at the same time.
				const key = notify({
					message: messages.preparing,
					progress: 'indeterminate',
					onCancel: () => controller.abort(),
				});
				try {
					return await source.createTicket(directory, entries, controller.signal);
				} finally {
					dismiss(key);
				}
			}
		},
		[source, directory, notify, dismiss],
	);
}

/** Most pages have no ZIP to show. Without the code the browser's own list still shows the download. */
async function showProgress(ticket: DownloadTicket, notify: Notify, source: FileSource): Promise<void> {
	const module = await import('./showDownloadProgress.js').catch(() => undefined);
	module?.showDownloadProgress(ticket, notify, source);
}
