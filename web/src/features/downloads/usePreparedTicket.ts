import { useEffect, useRef, useState } from 'react';
import { createTicket, type DownloadTicket, endTicket, type TicketSelection } from '../../api/downloads.js';

/**
 * A ticket for what is asked about, made as long as it is: only the server can tell how large a folder's ZIP will be. `take` hands it over; one that nobody took
 * ends with the question.
 */
export function usePreparedTicket(selection: TicketSelection | undefined) {
	// The question is about what it was about at first.
	const [first] = useState(selection);
	const [ticket, setTicket] = useState<DownloadTicket>();
	const [hasFailed, setFailed] = useState(false);
	const held = useRef<DownloadTicket>(undefined);

	useEffect(() => {
		if (!first) return;
		const controller = new AbortController();
		createTicket(first, controller.signal).then(
			(made) => {
				held.current = made;
				setTicket(made);
				if (controller.signal.aborted) release(held);
			},
			// Said when it is really wanted: the next try fails too, or does not.
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
	// It would end by itself; this only is sooner.
	if (unused) void endTicket(unused).catch(() => undefined);
}
