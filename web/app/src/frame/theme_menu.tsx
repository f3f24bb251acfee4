import { Monitor, Moon, Sun } from "lucide-react";
import { chooseTheme, type ThemeChoice, useThemeChoice } from "~/shell/theme";
import { Button, Menu, MenuChoices } from "~/ui";

const CHOICES: readonly { id: ThemeChoice; title: string }[] = [
  { id: "light", title: "Light" },
  { id: "dark", title: "Dark" },
  { id: "system", title: "As the system" },
];
const ICONS = { light: Sun, dark: Moon, system: Monitor };

export function ThemeMenu() {
  const choice = useThemeChoice();
  const Icon = ICONS[choice];
  return (
    <Menu
      trigger={
        <Button kind="quiet" size="icon" aria-label="Theme">
          <Icon />
        </Button>
      }
    >
      <MenuChoices choices={CHOICES} value={choice} onChange={(id) => chooseTheme(id as ThemeChoice)} />
    </Menu>
  );
}
