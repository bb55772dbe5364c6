import { Button, PopoverNext, PopupKind } from '@blueprintjs/core';
import { FilterIcon } from '@blueprintjs/icons';
import type { SearchFilters } from '@stowage/rules';
import { type Ref, useState } from 'react';
import { toolbarMessages as messages } from '../messages.js';
import styles from './Filters.module.css';
import { FiltersForm } from './FiltersForm.js';

export interface FiltersProps {
	buttonRef: Ref<HTMLButtonElement>;
	filters: SearchFilters;
	onApply: (filters: SearchFilters) => void;
}

/** The button beside the search box, which opens the filters. Closed in another way than by `Apply`, they stay as they were. */
export function Filters({ buttonRef, filters, onApply }: FiltersProps) {
	const [isOpen, setOpen] = useState(false);
	return (
		<PopoverNext
			isOpen={isOpen}
			onInteraction={setOpen}
			popoverClassName={styles.popover}
			placement="bottom-end"
			positioningStrategy="fixed"
			middleware={{ flip: { padding: 8 }, shift: { padding: 8, crossAxis: true } }}
			arrow={false}
			hasBackdrop
			animation="minimal"
			transitionDuration={100}
			popupKind={PopupKind.DIALOG}
			autoFocus={false}
			onOpening={(element) => element.querySelector('input')?.focus({ preventScroll: true })}
			content={
				<div role="dialog" aria-label={messages.filters}>
					<FiltersForm
						filters={filters}
						onApply={(applied) => {
							setOpen(false);
							onApply(applied);
						}}
					/>
				</div>
			}
		>
			<Button
				ref={buttonRef}
				className={styles.button}
				icon={<FilterIcon />}
				aria-label={messages.filters}
				text={messages.filters}
			/>
		</PopoverNext>
	);
}
