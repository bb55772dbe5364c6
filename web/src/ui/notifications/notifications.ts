/** An entry of the notification bar. */
export interface Notice {
	/** A notice replaces the one with the same key. Without a key it is added. */
	key?: string;
	/** `danger` is an alert; everything else is a status. */
	intent?: 'none' | 'success' | 'warning' | 'danger';
	message: string;
	/** A second line: the reason, or the server's sentence. */
	detail?: string;
	/** 0 to 1, or `indeterminate`. A notice with progress stays until it is dismissed or replaced. */
	progress?: number | 'indeterminate';
	/** How many milliseconds it stays without progress. @default 3000 */
	hidesAfter?: number;
	/** Stays until it is dismissed or replaced, also without progress. */
	stays?: boolean;
	/** Shows `Cancel`. */
	onCancel?: () => void;
	/** A further button. */
	action?: { text: string; onClick: () => void };
}

export interface ShownNotice extends Notice {
	key: string;
}

export type NotificationAction = { type: 'shown'; notice: ShownNotice } | { type: 'dismissed'; key: string };

/** How long a notice without progress stays by default. */
export const autoHideMilliseconds = 3000;

/** Above this number, the oldest notice that hides itself is removed. */
const maxShown = 3;

export function notificationsReducer(
	shown: readonly ShownNotice[],
	action: NotificationAction,
): readonly ShownNotice[] {
	switch (action.type) {
		case 'shown': {
			const { notice } = action;
			if (shown.some(({ key }) => key === notice.key)) {
				return shown.map((other) => (other.key === notice.key ? notice : other));
			}
			const next = [...shown, notice];
			const oldest = next.length > maxShown ? next.findIndex(autoHides) : -1;
			return oldest < 0 ? next : next.toSpliced(oldest, 1);
		}
		case 'dismissed':
			return shown.some(({ key }) => key === action.key) ? shown.filter(({ key }) => key !== action.key) : shown;
	}
}

/** Whether it hides itself. */
export function autoHides(notice: Notice): boolean {
	return notice.progress === undefined && !notice.stays;
}
