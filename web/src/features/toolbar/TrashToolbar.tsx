import { Button } from '@blueprintjs/core';
import { CrossCircleIcon, TrashIcon, UndoIcon } from '@blueprintjs/icons';
import { formatListSize, plural } from '@stowage/rules';
import { toolbarMessages as messages } from './messages.js';
import { SelectionStatus } from './SelectionStatus.js';
import toolbar from './Toolbar.module.css';
import styles from './TrashToolbar.module.css';
import { ViewSwitch, type ViewSwitchProps } from './ViewSwitch.js';

export interface TrashToolbarProps extends ViewSwitchProps {
	/** For how long items are kept, as a sentence. */
	note: string;
	/** How many items are shown; undefined while they are loading. */
	items: number | undefined;
	/** The bytes of all of them. */
	size: number;
	selected: number;
	/** Whether the list could be loaded; otherwise only the title is shown. */
	hasList: boolean;
	onRestore: () => void;
	onDeleteForever: () => void;
	onEmpty: () => void;
	onClearSelection: () => void;
}

/** The title of the trash, and what can be done with it and with the selection. */
export function TrashToolbar(props: TrashToolbarProps) {
	const { note, items, size, selected, hasList, view, onView } = props;
	const summary = items === undefined ? undefined : messages.trashSummary(plural(items, 'item'), formatListSize(size));
	return (
		<section className={toolbar.toolbar} aria-label={messages.trash}>
			<div className={`${toolbar.places} ${styles.heading}`}>
				<TrashIcon className={styles.icon} size={18} aria-hidden />
				<h1 className={styles.title}>{messages.trash}</h1>
				<p className={styles.note}>{note}</p>
				{hasList && (
					<Button
						className={styles.empty}
						intent="danger"
						variant="outlined"
						text={messages.emptyTrash}
						disabled={!items}
						onClick={props.onEmpty}
					/>
				)}
			</div>
			{hasList && (
				<div className={toolbar.contents}>
					<div className={styles.actions}>
						<Button
							intent="primary"
							icon={<UndoIcon />}
							text={messages.restore}
							disabled={selected === 0}
							onClick={props.onRestore}
						/>
						<Button
							icon={<CrossCircleIcon />}
							text={messages.deleteForever}
							disabled={selected === 0}
							onClick={props.onDeleteForever}
						/>
					</div>
					<SelectionStatus
						results={items}
						selected={selected}
						view={view}
						summary={summary}
						hint={items === 0 ? '' : messages.trashHint}
						onClearSelection={props.onClearSelection}
					/>
					<ViewSwitch view={view} onView={onView} />
				</div>
			)}
		</section>
	);
}
