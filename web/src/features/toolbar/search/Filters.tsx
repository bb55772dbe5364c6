import { Button } from '@blueprintjs/core';
import { FilterIcon } from '@blueprintjs/icons';
import type { SearchFilters } from '@stowage/rules';
import { type RefObject, useState } from 'react';
import { hasFilters } from '../../../api/listings/search.js';
import { type LazyModule, lazyComponent, useLazyModule } from '../../../ui/lazyComponent.js';
import styles from './Filters.module.css';
import type { FiltersPopoverProps } from './FiltersPopover.js';
import type { FilterTagsProps } from './FilterTags.js';
import { searchMessages as messages } from './messages.js';

/** Popovers are a tenth of the script of a page, and not everybody sets filters. */
const popover: LazyModule<FiltersPopoverProps> = {
	load: async () => (await import('./FiltersPopover.js')).FiltersPopover,
};

const FilterTags = lazyComponent<FilterTagsProps>(async () => (await import('./FilterTags.js')).FilterTags);

export interface FiltersProps {
	buttonRef: RefObject<HTMLButtonElement | null>;
	filters: SearchFilters;
	onApply: (filters: SearchFilters) => void;
}

/** The button beside the search box, which opens the filters. They are loaded when it is pressed, and then open at once. */
export function Filters({ buttonRef, filters, onApply }: FiltersProps) {
	const [wasPressed, setPressed] = useState(false);
	const [FiltersPopover, load] = useLazyModule(popover, () => setPressed(false));
	const button = {
		ref: buttonRef,
		className: styles.button,
		icon: <FilterIcon />,
		'aria-label': messages.filters,
		text: messages.filters,
	};
	if (FiltersPopover) {
		return (
			<FiltersPopover isOpenAtFirst={wasPressed} button={buttonRef} filters={filters} onApply={onApply}>
				<Button {...button} />
			</FiltersPopover>
		);
	}
	return (
		<Button
			{...button}
			aria-haspopup="dialog"
			aria-expanded={false}
			onClick={() => {
				setPressed(true);
				load();
			}}
		/>
	);
}

/** The filters that are set, each with a button that removes it. They are loaded with the first one. */
export function SetFilters(props: FilterTagsProps) {
	return hasFilters(props.filters) && <FilterTags {...props} />;
}
