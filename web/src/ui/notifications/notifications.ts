/** What the notification bar shows. */
export interface Notice {
	/** A notice with the same key takes the place of the one that is shown. Without one it stands by itself. */
	key?: string;
	/** `danger` is an alert; everything else is a status. */
	intent?: 'none' | 'success' | 'warning' | 'danger';
	message: string;
	/** A second line: why, or what the server said. */
	detail?: string;
	/** Something is measured: 0 to 1, or `indeterminate`. Such a notice stays until it is dismissed or replaced. */
	progress?: number | 'indeterminate';
	/** Stays until it is dismissed or replaced, although it measures nothing. */
	stays?: boolean;
	/** Shows `Cancel`. */
	onCancel?: () => void;
	/** One more thing that can be done about it. */
	action?: { text: string; onClick: () => void };
}

export interface ShownNotice extends Notice {
	key: string;
}

export type NotificationAction = { type: 'shown'; notice: ShownNotice } | { type: 'dismissed'; key: string };

/** How long a notice stays that measures nothing. */
export const autoHideMilliseconds = 3000;

/** More than this at once and the oldest that measures nothing gives way. */
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

/** Whether it goes by itself. */
export function autoHides(notice: Notice): boolean {
	return notice.progress === undefined && !notice.stays;
}
