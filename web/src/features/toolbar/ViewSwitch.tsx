import { Button, ButtonGroup } from '@blueprintjs/core';
import { GridViewIcon, ListIcon } from '@blueprintjs/icons';
import type { View } from '../../ui/useView.js';
import { toolbarMessages as messages } from './messages.js';
import styles from './ViewSwitch.module.css';

export interface ViewSwitchProps {
	view: View;
	onView: (view: View) => void;
}

/** Chooses between the list and the grid. */
export function ViewSwitch({ view, onView }: ViewSwitchProps) {
	return (
		<ButtonGroup role="group" aria-label={messages.view} className={styles.views}>
			{views.map(({ of, label, icon }) => (
				<Button
					key={of}
					icon={icon}
					variant="minimal"
					title={label}
					aria-label={label}
					aria-pressed={of === view}
					onClick={() => onView(of)}
				/>
			))}
		</ButtonGroup>
	);
}

const views = [
	{ of: 'list', label: messages.list, icon: <ListIcon /> },
	{ of: 'grid', label: messages.grid, icon: <GridViewIcon /> },
] as const;
