import { useCallback, useEffect, useRef } from 'react';
import { useNotify } from '../../../ui/notifications/useNotify.js';
import { delayedNotice } from './delayedNotice.js';

/** Waits for what changes nothing. Resolves to undefined if it is given up. */
export type LookUp = <T extends object>(title: string, read: () => Promise<T>) => Promise<T | undefined>;

/** Shows in the notification bar what is waited for. `Cancel` gives it up at once, as does leaving the page. */
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
