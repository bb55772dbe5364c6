import type { ResponseToolkit } from '@hapi/hapi';
import type { Request } from '@stowage/plugin-api';
import type { Viewer } from '@stowage/rules';
import { goneSignal } from '../downloads/goneSignal.js';
import { sendFile } from '../downloads/sendFile.js';
import { ClientGone } from '../downloads/writeBody.js';
import type { Services } from '../services.js';
import type { Selection } from './freeze.js';

/**
 * Answers a GET or HEAD with the archive of a selection, as `sendFile` answers with a file: exact length, ranges, conditions. Throws before the first byte if
 * something chosen is not there for the viewer.
 */
export async function sendArchive(
	{ archives, log }: Pick<Services, 'archives' | 'log'>,
	request: Request,
	h: ResponseToolkit,
	viewer: Viewer,
	selection: Selection,
	headers: Readonly<Record<string, string>> = {},
) {
	try {
		const { file, name, skipped } = await archives.open(viewer, selection, goneSignal(request));
		return await sendFile(request, h, file, {
			name,
			isInline: false,
			log,
			headers: { 'content-type': 'application/zip', 'x-stowage-skipped': String(skipped), ...headers },
		});
	} catch (error) {
		if (error instanceof ClientGone) return h.abandon;
		throw error;
	}
}
