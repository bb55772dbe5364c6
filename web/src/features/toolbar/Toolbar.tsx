import { Button, Tag } from '@blueprintjs/core';
import { CaretDownIcon, CogIcon, HomeIcon } from '@blueprintjs/icons';
import type { Area, MemberRole } from '@stowage/rules';
import { useRef } from 'react';
import { isSearch } from '../../api/listings/search.js';
import { AlphabetFilter, type AlphabetFilterProps } from './AlphabetFilter.js';
import { AreaSelect } from './AreaSelect.js';
import { toolbarMessages as messages } from './messages.js';
import { PathBreadcrumbs, type PathBreadcrumbsProps } from './PathBreadcrumbs.js';
import { SelectionStatus, type SelectionStatusProps } from './SelectionStatus.js';
import { SetFilters } from './search/Filters.js';
import { SearchBox, type SearchBoxProps } from './search/SearchBox.js';
import styles from './Toolbar.module.css';
import { ViewSwitch, type ViewSwitchProps } from './ViewSwitch.js';

export interface ToolbarProps
	extends Omit<SearchBoxProps, 'filtersButton'>,
		SelectionStatusProps,
		AlphabetFilterProps,
		ViewSwitchProps,
		Omit<PathBreadcrumbsProps, 'isSearch' | 'children'> {
	area: Area;
	/** Undefined until the session was checked. */
	isSignedIn: boolean | undefined;
	/** Whether folders of others are shared with the user. */
	hasShared: boolean;
	/** The owner of the shared folder on screen, and what the user may do there. */
	membership?: { owner: string; role: MemberRole } | undefined;
	onArea: (area: Area) => void;
	onHome: () => void;
	onSettings: () => void;
	/** Opens the menu of the selection and of the folder below the button. */
	onActions: (button: HTMLElement) => void;
	isMenuOpen: boolean;
	/** Whether the list could be loaded; otherwise the filter, the selection, the actions, the view and Home are hidden. */
	hasList: boolean;
}

/** The location and the filters of the list. It has no state: the page passes it. */
export function Toolbar(props: ToolbarProps) {
	const filtersButton = useRef<HTMLButtonElement>(null);
	const { area, isSignedIn, hasShared, membership, onArea, onHome, onSettings, onActions, isMenuOpen, hasList } = props;
	return (
		<section className={styles.toolbar} aria-label={messages.toolbar}>
			<div className={styles.places}>
				{hasList && <Button variant="minimal" icon={<HomeIcon />} aria-label={messages.home} onClick={onHome} />}
				<AreaSelect area={area} isSignedIn={isSignedIn ?? false} hasShared={hasShared} onArea={onArea} />
				<PathBreadcrumbs directory={props.directory} hrefOf={props.hrefOf} isSearch={isSearch(props)}>
					{membership && (
						<Tag minimal round className={styles.membership}>
							{messages.membership(membership.owner, membership.role)}
						</Tag>
					)}
				</PathBreadcrumbs>
				<SearchBox
					search={props.search}
					filters={props.filters}
					directory={props.directory}
					onSearch={props.onSearch}
					onOpen={props.onOpen}
					filtersButton={filtersButton}
				/>
				{isSignedIn && (
					<Button
						className={styles.settings}
						variant="minimal"
						icon={<CogIcon />}
						aria-label={messages.settings}
						onClick={onSettings}
					/>
				)}
			</div>
			<SetFilters filters={props.filters} onFilters={(filters) => props.onSearch({ filters })} button={filtersButton} />
			{hasList && (
				<div className={styles.contents}>
					<Button
						className={styles.actions}
						intent="primary"
						text={messages.actions}
						endIcon={<CaretDownIcon />}
						aria-haspopup="menu"
						aria-expanded={isMenuOpen}
						onClick={(event) => onActions(event.currentTarget)}
					/>
					<SelectionStatus
						results={props.results}
						selected={props.selected}
						view={props.view}
						onClearSelection={props.onClearSelection}
					/>
					<ViewSwitch view={props.view} onView={props.onView} />
					<AlphabetFilter letter={props.letter} onLetter={props.onLetter} />
				</div>
			)}
		</section>
	);
}
