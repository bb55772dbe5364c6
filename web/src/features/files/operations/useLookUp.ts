import { useCallback, useEffect, useRef } from 'react';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { delayedNotice } from './delayedNotice.js';

/** Reads from the server with a notice of this title. Resolves to undefined if the user cancels it, or leaves the page. */
export type LookUp = <T extends object>(title: string, read: () => Promise<T>) => Promise<T | undefined>;

/** Reading that changes nothing on the server, so that it can be given up at any moment. */
export function useLookUp(): LookUp {
	const { notify, dismiss } = useNotify();
	const running = useRef(new Set<() => void>());

	useEffect(() => {
		const { current } = running;
		return () => {
			for (const giveUp of current) giveUp();
		};
	}, []);

	return useCallback(
		async (title, read) => {
			const notice = delayedNotice({ notify, dismiss });
			let giveUp = () => {};
			const givenUp = new Promise<undefined>((resolve) => {
				giveUp = () => resolve(undefined);
			});
			running.current.add(giveUp);
			notice.show({ message: title, progress: 'indeterminate', onCancel: giveUp });
			try {
				return await Promise.race([read(), givenUp]);
			} finally {
				notice.end();
				running.current.delete(giveUp);
			}
		},
		[notify, dismiss],
	);
}
