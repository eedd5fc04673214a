def outages(*_):
    pass
