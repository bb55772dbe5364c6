import type { Turn } from '@stowage/plugin-api';

/** What readers wait for before they read on. */
export type Pause = () => Promise<void> | undefined;

/** Gives the place that several readers have together to others when their turn is over. */
export function pausing(turn: Turn): Pause {
	let pause: Promise<void> | undefined;
	return () => {
		if (pause === undefined && turn.isOver) {
			pause = turn.next().finally(() => {
				pause = undefined;
			});
		}
		return pause;
	};
}
