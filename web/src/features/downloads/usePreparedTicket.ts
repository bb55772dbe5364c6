import { useEffect, useRef, useState } from 'react';
import { type DownloadTicket, endTicket, type TicketEntry } from '../../api/downloads.js';
import { useFileSource } from '../../api/sources/FileSource.js';

/**
 * A ticket that is created while the dialog is open, since only the server knows how large a folder's ZIP will be.
 * `take` returns it to be used; one that was not taken is cancelled when the dialog closes.
 */
export function usePreparedTicket(selection: { directory: string; entries: readonly TicketEntry[] } | undefined) {
	const source = useFileSource();
	// The dialog stays with the selection with which it was opened.
	const [first] = useState(selection && { source, ...selection });
	const [ticket, setTicket] = useState<DownloadTicket>();
	const [hasFailed, setFailed] = useState(false);
	const held = useRef<DownloadTicket>(undefined);

	useEffect(() => {
		if (!first) return;
		const controller = new AbortController();
		first.source.createTicket(first.directory, first.entries, controller.signal).then(
			(made) => {
				held.current = made;
				setTicket(made);
				if (controller.signal.aborted) release(held);
			},
			// Not reported here: if the download is wanted, the next attempt succeeds or reports its failure.
			() => setFailed(true),
		);
		return () => {
			controller.abort();
			release(held);
		};
	}, [first]);

	return {
		ticket,
		hasFailed,
		take() {
			const taken = held.current;
			held.current = undefined;
			return taken;
		},
	};
}

function release(held: { current: DownloadTicket | undefined }): void {
	const unused = held.current;
	held.current = undefined;
	// It would expire anyway; this only frees it sooner.
	if (unused) void endTicket(unused).catch(() => undefined);
}
