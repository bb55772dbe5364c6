import { Button } from '@blueprintjs/core';
import { CrossIcon } from '@blueprintjs/icons';
import { plural } from '@stowage/rules';
import type { View } from '../../ui/useView.js';
import { toolbarMessages as messages } from './messages.js';
import styles from './SelectionStatus.module.css';

export interface SelectionStatusProps {
	/** How many entries the list shows; undefined while it is loading. */
	results: number | undefined;
	selected: number;
	view: View;
	/** The entries that are shown, counted. @default '3 Results' */
	summary?: string | undefined;
	/** What to do while nothing is selected. By default how to select. */
	hint?: string | undefined;
	onClearSelection: () => void;
}

/** The number of entries and of selected ones. */
export function SelectionStatus(props: SelectionStatusProps) {
	const { results, selected, view, summary, hint, onClearSelection } = props;
	return (
		<div className={styles.status}>
			<span className={styles.results} role="status">
				{results !== undefined && (summary ?? plural(results, 'Result'))}
			</span>
			{selected > 0 ? (
				<span className={styles.selected}>
					<span role="status">{messages.selected(selected)}</span>
					<Button
						variant="minimal"
						size="small"
						icon={<CrossIcon size={12} />}
						aria-label={messages.clearSelection}
						onClick={onClearSelection}
					/>
				</span>
			) : (
				<span className={styles.hint}>
					<span className={styles.mouseHint}>{hint ?? messages.hint}</span>
					<span className={styles.touchHint}>{hint ?? messages.touchHint[view]}</span>
				</span>
			)}
		</div>
	);
}
