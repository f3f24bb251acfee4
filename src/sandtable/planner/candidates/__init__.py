"""Plans that a question may mean: one subpackage per method of making them; they do not import each other."""
